// `npm run dashboard`: builds the dashboard's script and style, which the Worker serves, from src/browser/dashboard.
import { writeDashboard } from './dashboard-bundle.ts'

const { script, style } = await writeDashboard()
for (const { path, text } of [script, style]) console.log(`${path}: ${Buffer.byteLength(text)} bytes`)

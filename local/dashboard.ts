// `npm run dashboard`: makes what the Worker serves out of the sources in src/dashboard.
import { writeDashboard } from './dashboard-build.ts'

const { script, style } = await writeDashboard()
for (const { path, text } of [script, style]) console.log(`${path}: ${Buffer.byteLength(text)} bytes`)

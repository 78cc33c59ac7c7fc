// `npm run client`: writes down the types by which other people's programs know this Worker.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { buildClient, CLIENT_FILE } from './client-build.ts'

await mkdir(dirname(CLIENT_FILE), { recursive: true })
await writeFile(CLIENT_FILE, await buildClient())
console.log(`Wrote ${CLIENT_FILE}`)

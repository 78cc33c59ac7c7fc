// `npm run client`: writes the types of the typed client.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { buildClientTypes, CLIENT_FILE } from './typed-client.ts'

await mkdir(dirname(CLIENT_FILE), { recursive: true })
await writeFile(CLIENT_FILE, await buildClientTypes())
console.log(`Wrote ${CLIENT_FILE}`)

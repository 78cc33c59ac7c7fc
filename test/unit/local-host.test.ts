import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PROJECT } from '../../local/project-root.ts'
import { LOCAL_HOST } from '../../src/visits/network.ts'

it('The script knows the same local hosts as the Worker', () => {
  const script = readFileSync(join(PROJECT, 'src/browser/beacon/beacon.ts'), 'utf8')
  for (const of of ['location', 'base']) expect(script).toContain(`${of}.hostname.replace(${LOCAL_HOST}, '')`)
})

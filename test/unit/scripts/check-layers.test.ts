import { expect, it } from 'vitest'
import { problemsOf } from '../../../scripts/check-layers.ts'

const problems = (files: Record<string, string>) => problemsOf(new Map(Object.entries(files)))

it('A folder may import itself and folders below it', () => {
  const text = `import { a } from '../http/a.ts'\nimport type {\n  B,\n  C,\n} from './b.ts'\nimport { Hono } from 'hono'\n`
  expect(problems({ 'src/routes/a.ts': text, 'src/routes/b.ts': '', 'src/http/a.ts': '' })).toEqual([])
})

it.each([
  ['upward', 'src/counters/write/a.ts', `import { a } from '../../http/a.ts'`],
  ['upward, over several lines', 'src/http/b.ts', `import {\n  a,\n  b,\n} from '../routes/a.ts'`],
  ['upward, only of a type', 'src/database/a.ts', `import type { A } from '../log.ts'`],
  ['upward, of a type in place', 'src/database/a.ts', `let a: import('../log.ts').A`],
  ['upward, to pass it on', 'src/config/a.ts', `export { a } from '../isolate.ts'`],
  ['upward, without a name', 'src/config/a.ts', `import '../isolate.ts'`],
  ['upward, out of src', 'src/routes/a.ts', `import { a } from '../../local/a.ts'`],
  ['of a room on the same line', 'src/app.ts', `import { a } from './background.ts'`],
  ['of a room below, in a room that stands alone', 'src/browser/a.ts', `import { a } from '../log.ts'`],
  ['of a package of other rooms', 'src/visits/a.ts', `import { html } from 'hono/html'`],
  ['of the driver', 'src/http/a.ts', `import { Client } from '@planetscale/database'`],
])('An import is refused: %s', (_, file, text) => {
  expect(problems({ [file]: text })).toEqual([expect.stringMatching(`^${file} must not import `)])
})

it('An import cycle is refused, of types too', () => {
  const files = {
    'src/http/a.ts': `import { b } from './b.ts'`,
    'src/http/b.ts': `import { c } from './c.ts'`,
    'src/http/c.ts': `import type { A } from './a.ts'`,
  }
  expect(problems(files)).toEqual(['import cycle: src/http/a.ts → src/http/b.ts → src/http/c.ts → src/http/a.ts'])
})

it('A file that no line lists is refused', () => {
  expect(problems({ 'src/new/a.ts': '' })).toEqual(['src/new/a.ts is not listed in scripts/layers.ts'])
})

// What the compiler writes out for the typed client. Never run.
import type { ExtractSchema } from 'hono/types'
import type { App } from '../../src/routes/route-list.ts'

type Plain<T> = T extends object ? { -readonly [K in keyof T]: Plain<T[K]> } : T
// TypeScript writes out the return type of a function in full. Of a named type it would only repeat the name.
declare function plain<T>(): Plain<T>
export const routes = plain<ExtractSchema<App>>()

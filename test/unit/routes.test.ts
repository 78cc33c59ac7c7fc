import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { PROJECT } from '../../local/project-root.ts'
import { wholeApp } from '../../src/app.ts'
import { BROWSER_ROUTES, PROGRAM_ROUTES } from '../../src/routes/route-list.ts'
import { contracts } from '../harness/contracts.ts'

describe('adding a route', () => {
  it('is not forgotten in src/routes/route-list.ts', async () => {
    const listed = new Set<unknown>([...PROGRAM_ROUTES, ...BROWSER_ROUTES])
    const forgotten: string[] = []
    const files = globSync('src/routes/*.ts', { cwd: PROJECT })
    for (const file of files) {
      const exported = Object.entries((await import(`${PROJECT}/${file}`)) as object)
      for (const [name, value] of exported) {
        if (value instanceof Hono && !listed.has(value)) forgotten.push(`${basename(file)}: ${name}`)
      }
    }
    expect(files.length).toBeGreaterThan(15)
    expect(forgotten).toEqual([])
  })

  it('that reads public counters comes with CORS', () => {
    const preflights = new Set(
      wholeApp()
        .routes.filter(({ method }) => method === 'OPTIONS')
        .map(({ path }) => path),
    )
    const publicReadings = contracts().filter(({ access }) => access === 'read-unless-public')
    expect(publicReadings.length).toBeGreaterThan(4)
    const paths = publicReadings.map(({ path }) => path.replaceAll(/\{(\w+)\}/g, ':$1'))
    expect(paths.filter((path) => !preflights.has(path))).toEqual([])
  })
})

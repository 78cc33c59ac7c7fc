import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PROJECT } from '../../local/project-root.ts'

it('SQL is written in counters/ and database/ alone, but for the salts of visits', () => {
  const statement = /`\s*\(?(SELECT|INSERT|UPDATE|DELETE|SHOW|SET)\s/
  const withSql = globSync('src/**/*.ts', { cwd: PROJECT }).filter((path) =>
    statement.test(readFileSync(`${PROJECT}/${path}`, 'utf8')),
  )
  expect(withSql.length).toBeGreaterThan(10)
  expect(withSql.filter((path) => !/^src\/(counters\/|database\/|visits\/salts\.ts)/.test(path))).toEqual([])
})

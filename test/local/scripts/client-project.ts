import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { PROJECT } from '../../../local/project-root.ts'

const run = promisify(execFile)

/** Stricter than most projects: the types must not need looser options. */
const STRICT = {
  compilerOptions: {
    strict: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: ['node'],
    noEmit: true,
  },
  include: ['program.ts'],
}

/** A project of a user, with only Hono and this package installed. */
export class ClientProject {
  readonly directory: string
  private constructor(directory: string) {
    this.directory = directory
  }

  /** @param program the text of its only file */
  static async of(program: string): Promise<ClientProject> {
    const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-client-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const modules = join(directory, 'node_modules')
    await mkdir(join(modules, '@types'), { recursive: true })
    await symlink(join(PROJECT, 'node_modules/hono'), join(modules, 'hono'))
    await symlink(join(PROJECT, 'node_modules/@types/node'), join(modules, '@types/node'))
    await symlink(PROJECT, join(modules, 'slotted-counter'))
    await writeFile(join(directory, 'package.json'), '{"type":"module"}')
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(STRICT))
    await writeFile(join(directory, 'program.ts'), program)
    return new ClientProject(directory)
  }

  /** The output of the compiler; empty if all is well. */
  async check(): Promise<string> {
    return run(join(PROJECT, 'node_modules/.bin/tsc'), ['-p', this.directory]).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    )
  }

  /** Runs the program and returns its output. */
  async run(env: Record<string, string>): Promise<string> {
    const { stdout } = await run(process.execPath, ['program.ts'], {
      cwd: this.directory,
      env: { ...process.env, ...env },
    })
    return stdout
  }

  /** Bundles the program for a browser. */
  async bundle(): Promise<string> {
    const args = ['program.ts', '--bundle', '--format=esm', '--platform=neutral', '--conditions=import']
    const { stdout } = await run(join(PROJECT, 'node_modules/.bin/esbuild'), args, { cwd: this.directory })
    return stdout
  }
}

/** Text as it was before it was put into HTML. */
export function unescaped(text: string): string {
  const entities: Record<string, string> = { '&quot;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>', '&amp;': '&' }
  return text.replaceAll(/&[^;]+;/g, (entity) => entities[entity] ?? entity)
}

/** The first example of the page /docs, which creates a client. */
export function beginning(page: string): string {
  return unescaped(/<code>(import [^<]*)<\/code>/.exec(page)![1]!)
}

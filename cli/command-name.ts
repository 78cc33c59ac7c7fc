import { basename } from 'node:path'

/** Whether the package's command runs, in an application's folder, and not a script of the repository. */
export const IN_PACKAGE = basename(process.argv[1] ?? '').startsWith('slotted-counter')

/**
 * How a command is called here: `npm run verify --` in the repository, `npx slotted-counter verify` with the package.
 * @param flags options of npm: `-s ` keeps standard output clean
 */
export function commandName(name: string, flags = ''): string {
  return IN_PACKAGE ? commandText(name) : `npm run ${flags}${name} --`
}

/** The same for a sentence, without options. */
export const commandText = (name: string) => (IN_PACKAGE ? `npx slotted-counter ${name}` : `npm run ${name}`)

/** What runs everything on this machine. */
export const START = IN_PACKAGE ? commandText('dev') : 'npm start'

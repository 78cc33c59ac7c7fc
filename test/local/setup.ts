import { installPackages, isInstalled } from '../../local/processes/install-system-packages.ts'

/** The programs that tests of this folder run, and their packages. */
const PROGRAMS = { curl: 'curl', wget: 'wget', aria2c: 'aria2', axel: 'axel', jq: 'jq' }

/** Installs what is missing, once: apt-get does not run twice at the same time. */
export default async function setup(): Promise<void> {
  const missing: string[] = []
  for (const [program, name] of Object.entries(PROGRAMS)) if (!(await isInstalled(program))) missing.push(name)
  if (missing.length === 0) return
  const packages = { debian: missing, homebrew: missing }
  if (await installPackages(packages, `The tests need ${missing.join(', ')}. Installing:`, console.log)) return
  throw new Error(`The tests need ${missing.join(', ')}. Install them.`)
}

import { readFile, rename, writeFile } from 'node:fs/promises'

/** Writes a file for this user only: whole or not at all, also if the disk fills up or the power fails. */
export async function writePrivately(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
}

/** Parses a file of JSON. `null`: it does not exist, or its text was cut off. @throws {Error} if it cannot be read */
export async function readJsonFile<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

import { open, readFile, rename, rm, writeFile } from 'node:fs/promises'

/** A file that is being written, over several runs if need be. What was kept is there after a crash of any kind. */
export interface PartialFile<State> {
  /** What was kept with the last piece; `null` if nothing has been written yet. */
  state: State | null
  /** Writes a piece and keeps a state with it: a run that ends anywhere is continued from both or from neither. */
  append(piece: string, state: State): Promise<void>
  /** Gives it its name. */
  finish(): Promise<void>
  /** Leaves it as it is, for a later run. */
  close(): Promise<void>
}

/** Continuing is not possible; the message says why and what to do. */
export class NotContinuable extends Error {}

/**
 * Opens a file to write, or to go on writing where an earlier run stopped. Until it is finished it is called `FILE.partial`,
 * with its state beside it.
 *
 * @param purpose what is being written: what another purpose has begun is not continued
 * @throws {NotContinuable}
 */
export async function openPartialFile<State>(path: string, purpose: string): Promise<PartialFile<State>> {
  const partial = `${path}.partial`
  const stateFile = `${partial}.json`
  const kept = await readState<State>(stateFile)
  if (kept !== null && kept.purpose !== purpose) {
    throw new NotContinuable(
      `${partial} was begun with other options: ${kept.purpose}. Give the same again, or delete ${partial} and ${stateFile}`,
    )
  }
  const file = await open(partial, kept === null ? 'w' : 'r+').catch((error: NodeJS.ErrnoException) => {
    if (kept === null || error.code !== 'ENOENT') throw error
    throw new NotContinuable(`${partial} is gone. Delete ${stateFile} to begin anew`)
  })
  let bytes = kept?.bytes ?? 0
  if ((await file.stat()).size < bytes) {
    await file.close()
    throw new NotContinuable(`${partial} is shorter than it was. Delete it and ${stateFile} to begin anew`)
  }
  // What was written after the last state was kept.
  await file.truncate(bytes)
  return {
    state: kept?.state ?? null,
    async append(piece, state) {
      const data = Buffer.from(piece)
      await file.write(data, 0, data.length, bytes)
      await file.datasync()
      bytes += data.length
      await writeFile(`${stateFile}.new`, JSON.stringify({ purpose, bytes, state } satisfies Kept<State>), {
        flush: true,
      })
      await rename(`${stateFile}.new`, stateFile)
    },
    async finish() {
      await file.close()
      await rename(partial, path)
      await rm(stateFile, { force: true })
    },
    close: () => file.close(),
  }
}

interface Kept<State> {
  purpose: string
  bytes: number
  state: State
}

async function readState<State>(stateFile: string): Promise<Kept<State> | null> {
  const text = await readFile(stateFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  return text === null ? null : (JSON.parse(text) as Kept<State>)
}

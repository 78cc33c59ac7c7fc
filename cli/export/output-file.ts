import { open, rename, rm } from 'node:fs/promises'

/**
 * Writes a file that appears under its name only when it is complete. Until then it is called `PATH.partial`, which is
 * removed if writing fails.
 *
 * @param write writes the content, piece by piece
 */
export async function writeCompleteFile(
  path: string,
  write: (append: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const partial = `${path}.partial`
  const file = await open(partial, 'w')
  try {
    await write((text) => file.appendFile(text))
    await file.datasync()
  } catch (error) {
    await file.close()
    await rm(partial)
    throw error
  }
  await file.close()
  await rename(partial, path)
}

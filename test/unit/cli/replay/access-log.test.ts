import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAccessLog } from '../../../../cli/replay/access-log.ts'

const MEBI = 1024 * 1024
describe('An access log', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slotted-counter-log-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  async function read(content: string | Buffer): Promise<string[]> {
    const path = join(folder, 'access.log')
    await writeFile(path, content)
    const log = await openAccessLog(path)
    const lines = await Array.fromAsync(log.lines)
    expect(log.size).toBe(Buffer.byteLength(content))
    expect(log.bytesRead()).toBe(log.size)
    return lines
  }
  const both = async (content: string | Buffer) => {
    const lines = await read(content)
    expect(await read(gzipSync(content))).toEqual(lines)
    return lines
  }

  it('has lines that end with LF or CRLF; the last line may end with nothing, and lines may be empty', async () => {
    expect(await both('a\nb\n')).toEqual(['a', 'b'])
    expect(await both('a\r\nb\r\n')).toEqual(['a', 'b'])
    expect(await both('a\nb')).toEqual(['a', 'b'])
    expect(await both('a\r\nb\r')).toEqual(['a', 'b'])
    expect(await both('\n\na\n\r\n')).toEqual(['', '', 'a', ''])
    expect(await both('a\rb\n')).toEqual(['a\rb'])
  })

  it('may be empty', async () => {
    expect(await both('')).toEqual([])
    expect(await both('\n')).toEqual([''])
  })

  it('is read in pieces without breaking characters or lines', async () => {
    // Characters of up to four bytes, at another offset in every line: pieces end at every place within a character.
    const lines = Array.from({ length: 2_000 }, (_, i) => `${i}${'x'.repeat(i % 3)}${'€😀ö'.repeat(i % 100)}`)
    expect(await both(lines.join('\n'))).toEqual(lines)
    expect(await both(`${lines.join('\r\n')}\r\n`)).toEqual(lines)
  })

  it('may hold any text', async () => {
    const line = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/[\r\n]/g, ''))
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.constantFrom('\n', '\r\n'), async (lines, end) => {
        expect(await both(lines.map((text) => text + end).join(''))).toEqual(lines)
      }),
    )
  })

  it('is read even if it is not UTF-8', async () => {
    const lines = await both(Buffer.from([0x61, 0xff, 0xfe, 0x0a, 0x00, 0x80, 0x0a, 0x62, 0xe2, 0x82]))
    expect(lines).toEqual(['a\ufffd\ufffd', '\0\ufffd', 'b\ufffd'])
  })

  it('may be several gzip files in one, as log rotation appends them', async () => {
    expect(await read(Buffer.concat([gzipSync('a\nb'), gzipSync('c\nd\n')]))).toEqual(['a', 'bc', 'd'])
  })

  it('may be in UTF-16, with a byte order mark or without one', async () => {
    const bigEndian = (text: string) => Buffer.from(text, 'utf16le').swap16()
    for (const text of ['a\né😀\n', '\ufeffa\r\né😀', `\ufeff${'ab\n'.repeat(5_000)}`]) {
      const lines = text.replace('\ufeff', '').trim().split(/\r?\n/)
      expect(await both(Buffer.from(text, 'utf16le'))).toEqual(lines)
      expect(await both(bigEndian(text))).toEqual(lines)
    }
  })

  it.each([
    ['zip', 'PK\x03\x04\x14'],
    ['zip', 'PK\x05\x06'],
    ['xz', '\xfd7zXZ\0'],
    ['zst', '(\xb5/\xfd'],
    ['bz2', 'BZh91AY&SYx'],
    ['7z', "7z\xbc\xaf'\x1c"],
    ['tar', `access.log${'\0'.repeat(247)}ustar\0`],
  ])('is an error that says so if it is a %s file', async (name, bytes) => {
    const content = Buffer.from(bytes, 'latin1')
    for (const one of [content, gzipSync(content)])
      await expect(read(one)).rejects.toThrow(`the file is ${name}, not text; `)
  })

  it('may begin as such a file by chance', async () => {
    expect(await both('PK\nBZh9 \n7z\n')).toEqual(['PK', 'BZh9 ', '7z'])
  })

  it('may have lines of any length, which are cut at the same place however they are read', async () => {
    const long = 'x'.repeat(2 * MEBI)
    const lines = await both(`a\n${long}\n${long.slice(0, MEBI)}\r\n${'y'.repeat(MEBI)}\rz\nb\n${long}`)
    expect(lines.map((line) => line.length)).toEqual([1, MEBI, MEBI, MEBI, 1, MEBI])
    expect(lines[3]).toBe('y'.repeat(MEBI))
  })

  it.each([10, 50, 1_000])('is an error if it is compressed and ends early, after %d bytes', async (length) => {
    const whole = gzipSync(Buffer.from(Array.from({ length: 5_000 }, () => Math.random() * 256)))
    await expect(read(whole.subarray(0, length))).rejects.toThrow('unexpected end of file')
  })

  it('is an error if it is compressed and damaged', async () => {
    const whole = gzipSync('a\n'.repeat(1_000))
    whole[whole.length - 6]! ^= 0xff
    await expect(read(whole)).rejects.toThrow('incorrect data check')
  })

  it('is an error if the file does not exist', async () => {
    await expect(openAccessLog(join(folder, 'missing'))).rejects.toThrow(/ENOENT/)
  })

  it('is an error that can be caught if the file cannot be opened', async () => {
    const socket = join(folder, 'socket')
    const server = createServer().listen(socket)
    await new Promise((listening) => server.once('listening', listening))
    const log = await openAccessLog(socket)
    // Gives an attempt to open it, if there were one, the time to fail.
    await writeFile(join(folder, 'other'), '')
    await expect(Array.fromAsync(log.lines)).rejects.toThrow(/ENXIO|EOPNOTSUPP/)
    await new Promise((closed) => server.close(closed))
  })

  it('may be read in part', async () => {
    for (const content of ['a\n'.repeat(200_000), gzipSync(Buffer.from('a\n'.repeat(200_000)))]) {
      const path = join(folder, 'left.log')
      await writeFile(path, content)
      const log = await openAccessLog(path)
      for await (const line of log.lines) {
        expect(line).toBe('a')
        break
      }
      expect(log.bytesRead()).toBeLessThanOrEqual(log.size!)
    }
  })
})

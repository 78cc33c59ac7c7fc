/** The size that link previews expect, in pixels: https://ogp.me, and summary_large_image of X. */
export const [PICTURE_WIDTH, PICTURE_HEIGHT] = [1200, 630]

const MARGIN = 60
const BAR_PART = 0.74
/** Colors of the dashboard: the ground and the bars. */
const PALETTE = [0xff, 0xff, 0xff, 0x2f, 0x6f, 0xdb]
/** One bit a pixel, and a byte for the filter of each row. */
const ROW_BYTES = 1 + PICTURE_WIDTH / 8

/** Draws bars as a PNG (https://www.w3.org/TR/png-3/), for link previews: most show no SVG, and have their own text. */
export async function drawPicture(counts: readonly number[]): Promise<Uint8Array<ArrayBuffer>> {
  const values = counts.map((count) => Math.max(0, count))
  const most = Math.max(1, ...values)
  const place = (PICTURE_WIDTH - 2 * MARGIN) / values.length
  const bars = values.map((value, index) => ({
    left: Math.round(MARGIN + index * place),
    right: Math.round(MARGIN + (index + BAR_PART) * place),
    // The axis is a line under all bars.
    top: PICTURE_HEIGHT - MARGIN - Math.round((value / most) * (PICTURE_HEIGHT - 2 * MARGIN)),
  }))
  const row = new Uint8Array(ROW_BYTES)
  const rows = new Uint8Array(ROW_BYTES * PICTURE_HEIGHT)
  const fill = (from: number, to: number) => {
    for (let x = from; x < to; x++) row[1 + (x >> 3)]! |= 0x80 >> (x & 7)
  }
  for (let y = 0; y < PICTURE_HEIGHT - MARGIN + 4; y++) {
    for (const { left, right, top } of bars) if (top === y) fill(left, right)
    if (y === PICTURE_HEIGHT - MARGIN) fill(MARGIN, PICTURE_WIDTH - MARGIN)
    rows.set(row, y * ROW_BYTES)
  }
  const size = [PICTURE_WIDTH, PICTURE_HEIGHT].flatMap((pixels) => [0, 0, pixels >> 8, pixels & 255])
  const parts = [
    Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    // One bit a pixel, of a palette.
    chunk('IHDR', Uint8Array.of(...size, 1, 3, 0, 0, 0)),
    chunk('PLTE', Uint8Array.from(PALETTE)),
    chunk('IDAT', await deflated(rows)),
    chunk('IEND', new Uint8Array()),
  ]
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

/** Length, type, data and checksum. */
function chunk(type: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(12 + data.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, data.length)
  for (let i = 0; i < 4; i++) bytes[4 + i] = type.charCodeAt(i)
  bytes.set(data, 8)
  view.setUint32(8 + data.length, crc32(bytes.subarray(4, 8 + data.length)))
  return bytes
}

/** CRC-32 as in PNG, annex D. */
function crc32(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ -1) >>> 0
}

/**
 * SQL of columns that come as one text, for statements with many rows: the driver decodes each column of each row on its own, which
 * takes longer than splitting a text. Not for a UNION whose parts have an order and are on several shards: vtgate refuses it.
 *
 * @param columns their values must be numbers or texts without spaces; only the last one may be NULL, and is left out then
 */
export function packedSql(...columns: readonly string[]): string {
  return `CONCAT_WS(' ', ${columns.join(', ')}) AS packed`
}

/** The values of a row's packed columns, as texts. */
export function unpack(row: Record<string, unknown>): string[] {
  return String(row.packed).split(' ')
}

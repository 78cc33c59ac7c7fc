import type { FieldPacket } from 'mysql2'

/** A column of a result, as PlanetScale's API describes it (a `query.Field` of Vitess in protobuf JSON). */
export interface WireField {
  name: string
  type?: string
  table?: string
  orgTable?: string
  database?: string
  orgName?: string
  columnLength?: number
  charset?: number
  decimals?: number
  flags?: number
}

/** A row: the length of each value (-1 for NULL), and all values concatenated, in base64. */
export interface WireRow {
  lengths: string[]
  values?: string
}

/** The result of a statement. Zero and empty values are left out, as in protobuf JSON. */
export interface WireResult {
  rowsAffected?: string
  insertId?: string
  fields?: WireField[]
  rows?: WireRow[]
}

// MySQL column type codes (protocol, "Column Definition Flags" and "enum_field_types") to Vitess type names.
const INTEGERS: Record<number, string> = { 1: 'INT8', 2: 'INT16', 3: 'INT32', 8: 'INT64', 9: 'INT24' }
const OTHERS: Record<number, string> = {
  0: 'DECIMAL',
  4: 'FLOAT32',
  5: 'FLOAT64',
  7: 'TIMESTAMP',
  10: 'DATE',
  11: 'TIME',
  12: 'DATETIME',
  13: 'YEAR',
  14: 'DATE',
  16: 'BIT',
  242: 'VECTOR',
  245: 'JSON',
  246: 'DECIMAL',
  247: 'ENUM',
  248: 'SET',
  255: 'GEOMETRY',
}
const UNSIGNED = 32
const BINARY = 128
const ENUM = 256
const SET = 2048

/** The Vitess type of a column; `undefined` for NULL_TYPE, which is left out because its number is zero. */
function typeName(code: number, flags: number): string | undefined {
  const integer = INTEGERS[code]
  if (integer !== undefined) return flags & UNSIGNED ? `U${integer}` : integer
  if (code === 15 || code === 253) return flags & BINARY ? 'VARBINARY' : 'VARCHAR'
  if (code >= 249 && code <= 252) return flags & BINARY ? 'BLOB' : 'TEXT'
  if (code !== 254) return OTHERS[code]
  // In the order of Vitess (go/sqltypes, `modifyType`), for which an ENUM with a binary collation is BINARY.
  if (flags & BINARY) return 'BINARY'
  if (flags & ENUM) return 'ENUM'
  return flags & SET ? 'SET' : 'CHAR'
}

/** Describes a column as Vitess does. */
export function toWireField(packet: FieldPacket): WireField {
  const flags = Number(packet.flags)
  const type = typeName(packet.columnType ?? packet.type ?? 6, flags)
  const optional = {
    type,
    table: packet.table,
    orgTable: packet.orgTable,
    database: packet.schema ?? packet.db,
    orgName: packet.orgName,
    columnLength: packet.columnLength,
    charset: packet.characterSet,
    decimals: packet.decimals,
    flags,
  }
  return { name: packet.name, ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value)) }
}

/** Packs a row of raw column values. */
export function toWireRow(values: readonly (Buffer | null)[]): WireRow {
  const lengths = values.map((value) => String(value === null ? -1 : value.length))
  const packed = Buffer.concat(values.filter((value) => value !== null)).toString('base64')
  return packed === '' ? { lengths } : { lengths, values: packed }
}

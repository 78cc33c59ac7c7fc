import { toCsv } from './csv.ts'
import type { Count } from './exact-json.ts'

/** Saves rows as a CSV file. */
export function saveCsv(name: string, rows: readonly (readonly (Count | bigint | null)[])[]): void {
  // With a byte order mark, spreadsheets read UTF-8.
  const url = URL.createObjectURL(new Blob(['\ufeff', toCsv(rows)], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name.replaceAll(/[^\p{L}\p{N}_.]+/gu, '-').slice(0, 100)}.csv`
  link.click()
  // The browser has taken the file by the next task.
  setTimeout(() => URL.revokeObjectURL(url))
}

import { LARGEST_ID } from '../ranges.ts'

/** Where a page begins. Counters come first, then the days of types, their hours, and their weeks and months. */
export type VerifyPosition =
  | { phase: 'counters'; recordType: number; recordId: bigint }
  | { phase: 'days'; recordType: number; start: string }
  | { phase: 'hours'; start: string }
  | { phase: 'calendar'; recordType: number }

export const FIRST_POSITION: VerifyPosition = { phase: 'counters', recordType: 0, recordId: 0n }

/** A position as a text of at most 40 characters. */
export function writePosition(position: VerifyPosition): string {
  switch (position.phase) {
    case 'counters':
      return `counters.${position.recordType}.${position.recordId}`
    case 'days':
      return `days.${position.recordType}.${position.start}`
    case 'hours':
      return `hours.${position.start.replace(' ', 'T')}`
    case 'calendar':
      return `calendar.${position.recordType}`
  }
}

/** `null` for a text that is not of `writePosition`. */
export function readPosition(text: string): VerifyPosition | null {
  const [, phase, , number, rest] =
    /^(counters|days)(\.)(\d{1,5})\.(\d{1,20}|\d{4}-\d\d-\d\d|)$/.exec(text) ??
    /^(calendar)(\.)(\d{1,5})()$/.exec(text) ??
    []
  const recordType = Number(number)
  if (phase !== 'days' && /^\d+$/.test(rest ?? '') && BigInt(rest!) <= LARGEST_ID) {
    return { phase: 'counters', recordType, recordId: BigInt(rest!) }
  }
  if (phase === 'days' && (rest === '' || isTime(rest!))) return { phase, recordType, start: rest! }
  if (phase === 'calendar') return { phase, recordType }
  const hours = /^hours\.(\d{4}-\d\d-\d\d(?:T\d\d:00:00)?|)$/.exec(text)
  if (hours === null || (hours[1] !== '' && !isTime(hours[1]!))) return null
  return { phase: 'hours', start: hours[1]!.replace('T', ' ') }
}

function isTime(text: string): boolean {
  const time = new Date(`${text.slice(0, 10)}T${text.slice(11) || '00:00:00'}Z`)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text) && text >= '1000'
}

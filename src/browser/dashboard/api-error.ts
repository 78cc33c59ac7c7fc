/** An error response, or that there was none. */
export class ApiError extends Error {
  /** 0: there was no response. */
  readonly status: number
  /** That of the problem document, `offline`, `no_answer` or `outcome_unknown`. */
  readonly code: string

  constructor(status: number, { code = '', detail = '' }: Partial<Problem>) {
    super(OWN[code] ?? (detail || `The Worker answered ${status}.`))
    this.status = status
    this.code = code
  }
}

/** What pages read of a problem document. */
export interface Problem {
  code: string
  /** What happened and what to do about it. */
  detail: string
}

/** What only the page knows, or says otherwise than to programs. */
const OWN: Record<string, string> = {
  offline: 'You are offline.',
  no_answer: 'The Worker does not answer.',
  outcome_unknown: 'No answer came: this may or may not have been done. Load the page again to see.',
  // A notice above says that the session has ended.
  unauthorized: 'Sign in again.',
}

/** What happens next on a page that asks again by itself. */
export const KEEPS_TRYING = 'This page updates as soon as it can.'

/** What a page says of a failed request, and what happens `next` if that may pass. */
export function messageOf(error: unknown, next = 'Try again.'): string {
  if (!(error instanceof ApiError)) return String(error)
  const { status, code, message } = error
  const passes = status === 0 || status === 429 || status >= 500
  return passes && code !== 'outcome_unknown' ? `${message} ${next}` : message
}

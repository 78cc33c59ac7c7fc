import type { HtmlEscapedString } from 'hono/utils/html'

/** The result of `html`, in which every interpolated value is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

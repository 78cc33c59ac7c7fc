import { html } from 'hono/html'
import type { CounterType } from '../config/counter-types.ts'
import type { RankedCounter } from '../counters/counter-address.ts'
import type { Week } from '../service/weekly-feed.ts'
import { withUnit } from '../units.ts'
import { visibleKey } from '../visible-key.ts'
import type { Html } from './dashboard/layout.ts'
import { showChange, showCount, showDays, showGrowth } from './english.ts'

/** The weeks of a type as an Atom feed (RFC 4287). @param address that of this Worker @param end of the last whole week, in UTC */
export function weeklyFeed(
  address: string,
  site: string,
  type: CounterType,
  weeks: readonly Week[],
  end: string,
): string {
  const self = `${address}/stats/${type.name}.atom`
  const links = html`<link rel="alternate" type="text/html" href="${address}${type.publicPage ? '/stats/' : '/?type='}${type.name}"/>`
  const counted = (count: bigint) => withUnit(showCount(count), count, type)
  const entry = (week: Week) => html`<entry>
<id>${self}#${week.first}</id>
<title>${counted(week.count)}, ${showDays(week.first, week.last)}</title>
<updated>${week.end}T00:00:00Z</updated>
${links}
<content type="html">${String(contentOf(type, week, counted(week.count)))}</content>
</entry>
`
  const feed = html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>${self}</id>
<title>${type.title} · ${site}</title>
<updated>${end}T00:00:00Z</updated>
<author><name>${site}</name></author>
<link rel="self" type="application/atom+xml" href="${self}"/>
${links}
${weeks.map(entry)}</feed>
`
  // Keys may have them, but no XML.
  return String(feed).replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD')
}

function contentOf({ keys }: CounterType, { count, before, leading, rising }: Week, counted: string): Html {
  const list = (title: string, counters: RankedCounter[] | null, show: (count: bigint) => string) => {
    if (counters === null) return html`<p>${title}: there are too many ${keys} to rank.</p>`
    const items = counters.map(({ name, count }) => html`<li>${visibleKey(name)}: ${show(count)}</li>`)
    return counters.length === 0 ? '' : html`<p>${title}:</p><ol>${items}</ol>`
  }
  const growth =
    before === null ? '' : `, ${showGrowth({ compared: count, before })} against ${showCount(before)} the week before`
  return html`<p>${counted}${growth.replace('  ', ' ')}</p>${list('Highest counts', leading, showCount)}${list('Biggest gains', rising, showChange)}`
}

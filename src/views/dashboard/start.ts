import { html } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import type { StartNumbers } from '../../service/start-numbers.ts'
import { withUnit } from '../../units.ts'
import { drawSmall } from '../chart.ts'
import { showChange, showCount, showToday, showUnit, showWeekday } from '../english.ts'
import { type Html, keyText, type Viewer } from './layout.ts'
import { growth, noteOf } from './shown-numbers.ts'

type Lead = NonNullable<StartNumbers['lead']>

/** The main part of the page to begin with. If nothing was ever counted: the first steps of the first type. */
export function startMain(viewer: Viewer, numbers: StartNumbers, firstSteps: (type: CounterType) => Html): Html {
  const { rows, lead, left, asOf, timeZone } = numbers
  const parts =
    lead === null
      ? rows.slice(0, 1).map(({ type }) => firstSteps(type))
      : html`<section class="card" aria-label="Types">${rows.map((row) => typeRow(viewer, row, asOf))}
${left === 0 ? '' : html`<p class="hint">More types, in the tabs above: ${left}.</p>`}
</section>
<div class="pair">${changes(viewer, lead, 'Rising')}${changes(viewer, lead, 'Falling')}</div>
${outlook(viewer, numbers, lead)}
<p class="hint" id="as-of">${noteOf(numbers)}</p>`
  return html`<main id="main" data-page="start" data-zone="${timeZone}">
<div class="row title"><h1>${showToday(asOf)}</h1></div>
${parts}
</main>`
}

function typeRow({ base }: Viewer, row: StartNumbers['rows'][number], asOf: string): Html {
  const { type, visitors, points, total } = row
  const isEmpty = total === 0n && points.every((count) => count === 0n)
  const below = visitors ? `${withUnit(showCount(visitors.count), visitors.count, visitors.type)} in 7 days` : ''
  const [today, yesterday, week] = row.figures
  const all = { count: total, compared: null, before: null }
  const figures = [
    ['Today, so far', today!, `against the ${showWeekday(asOf)} before`],
    ['Yesterday', yesterday!, `against the ${showWeekday(asOf, -1)} before`],
    ['Last 7 full days', week!, 'against the week before'],
    ['All time', all, ''],
  ] as const
  return html`<div class="type">
<div><h2><a href="${base}/?type=${type.name}">${type.title}</a></h2><small>${isEmpty ? 'Nothing counted yet: first steps' : below}</small></div>
<p class="small-chart"><small>30 days</small>${drawSmall(points)}</p>
${figures.map(([label, figure, more]) => html`<p><small>${label}</small> <b>${showCount(figure.count)}</b> ${growth(figure, more)}</p>`)}
</div>
`
}

/** The counters that rose or fell most in the last seven whole days, each with its days and those of the week before. */
function changes({ base }: Viewer, { type, rising, falling }: Lead, title: 'Rising' | 'Falling'): Html {
  const changed = title === 'Rising' ? rising : falling
  const rows = changed?.map(({ key, count, before, difference, isNew, points }) => {
    const href = `${base}/counter?${new URLSearchParams({ type: type.name, key })}`
    return html`<tr><th scope="row"><a class="whole" href="${href}">${keyText(key)}</a></th><td class="number small-chart">${drawSmall(points)}</td><td class="number count">${showCount(count)}</td><td class="number"><span class="growth ${difference > 0n ? 'up' : 'down'}" title="${showCount(count)} compared with ${showCount(before)}">${showChange(difference)}${isNew ? ' new' : ''}</span></td></tr>\n`
  })
  const none = rows ? 'None.' : `Too many ${type.keys} were counted in these days to compare them all.`
  return html`<section class="card">
<h2>${title} <span class="hint">in 7 days · ${type.title}</span></h2>
${rows?.length ? html`<table class="ranking" aria-label="${title}"><tbody>${rows}</tbody></table>` : html`<p class="hint">${none}</p>`}
</section>`
}

/** The best day, the next round number, and what everybody may see. Empty if there is none of them. */
function outlook({ base }: Viewer, { rows, asOf, timeZone }: StartNumbers, { type, best, round }: Lead): Html | '' {
  const counted = (count: bigint) => withUnit(showCount(count), count, type)
  const open = rows.filter(({ type }) => type.publicPage)
  const links = open.map(
    ({ type: { name, title } }) => html`${open.length > 1 ? html`<span>${title}</span>` : ''}
<nav class="choice" aria-label="${title}"><a href="${base}/stats/${name}">Public page</a><a href="${base}/stats/${name}.atom">Weekly feed</a></nav>`,
  )
  if (!best && !round && open.length === 0) return ''
  return html`<section class="card row" aria-label="Outlook">
${best && html`<span id="best"><b>Best day in a year${timeZone === 'UTC' ? '' : ', in UTC'}:</b> ${counted(best.count)} on ${showUnit('day', [best.day, best.day], '', asOf)}${best.isToday ? ', so far' : ''}</span>`}
${round && html`<span id="round"><b>${counted(round.count)}</b> in about ${round.days} ${round.days === 1 ? 'day' : 'days'} at this pace</span>`}
${links}
</section>`
}

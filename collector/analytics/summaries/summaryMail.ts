import { counted } from '../../platform/counted.ts'
import type { Mail } from '../../platform/mail.ts'
import type { Counted, SummaryFigures } from './figures.ts'
import type { Frequency, Period } from './periods.ts'

interface Summary {
  readonly projectName: string
  readonly frequency: Frequency
  readonly period: Period
  readonly figures: SummaryFigures
  /** The URL of the same figures in the dashboard. */
  readonly overviewUrl: string
  /** The URL to unsubscribe; a POST to it is enough (RFC 8058). */
  readonly unsubscribeUrl: string
}

// In English, like all of the mail, whatever the machine's own language; days are local days of the project.
const whole = new Intl.NumberFormat('en')
const share = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
const change = new Intl.NumberFormat('en', {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})
const days = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})
const month = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

const nameOf = (frequency: Frequency, { firstDay, lastDay }: Period): string =>
  // Some mail programs cannot display its thin spaces.
  frequency === 'monthly'
    ? month.format(Date.parse(firstDay))
    : days.formatRange(Date.parse(firstDay), Date.parse(lastDay)).replace(/\s/g, ' ')

function duration(millis: number): string {
  const seconds = Math.round(millis / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const lines: {
  name: string
  of(figures: SummaryFigures['now']): number | null
  text(value: number): string
}[] = [
  { name: 'Visitors', of: ({ visitors }) => visitors, text: whole.format },
  { name: 'Page views', of: ({ page_views }) => page_views, text: whole.format },
  { name: 'Sessions', of: ({ sessions }) => sessions, text: whole.format },
  { name: 'Bounce rate', of: ({ bounce_rate }) => bounce_rate, text: share.format },
  { name: 'Time on page', of: ({ time_on_page_ms }) => time_on_page_ms, text: duration },
]

/** Name, value and change: "+12% from 1,100". */
type Row = readonly [name: string, value: string, note: string]

const figureRows = ({ now, before }: SummaryFigures): Row[] =>
  lines.map(({ name, of, text }) => {
    const [current, previous] = [of(now), of(before)]
    const shown = (value: number | null) => (value === null ? '–' : text(value))
    const changed =
      current !== null && previous ? `${change.format(current / previous - 1)} from ` : 'from '
    return [name, shown(current), `${changed}${shown(previous)}`]
  })

const countedRows = (rows: readonly Counted[], none: string): Row[] =>
  rows.map(({ value, visitors }) => [value ?? none, whole.format(visitors), ''])

/** Returns a summary as a mail with text, and with HTML that loads no resources. */
export function summaryMail(summary: Summary): Omit<Mail, 'to'> {
  const { projectName, frequency, period, figures, overviewUrl, unsubscribeUrl } = summary
  const name = nameOf(frequency, period)
  const tables: [title: string, rows: Row[]][] = [
    [
      `Figures, compared with the previous ${frequency === 'weekly' ? 'week' : 'month'}`,
      figureRows(figures),
    ],
    ['Top pages, by visitors', countedRows(figures.pages, 'No page')],
    ['Sources, by visitors', countedRows(figures.sources, 'Direct or unknown')],
  ]
  const filled = tables.filter(([, rows]) => rows.length > 0)
  const reason = `You receive this mail because you subscribed to the ${frequency} summary of this project.`
  return {
    subject: `${projectName}: ${counted(figures.now.visitors, 'visitor')}, ${name}`,
    text: [
      `${projectName}\n${name} (${period.zone.name})`,
      ...filled.map(([title, rows]) => `${title}\n${rows.map(textLine).join('\n')}`),
      `The overview: ${overviewUrl}`,
      `${reason} To unsubscribe: ${unsubscribeUrl}\n`,
    ].join('\n\n'),
    html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escaped(projectName)}</title></head>
<body style="margin:0;padding:24px;font:15px/1.5 system-ui,sans-serif">
<h1 style="margin:0;font-size:20px">${escaped(projectName)}</h1>
<p style="margin:0 0 16px">${escaped(name)} (${escaped(period.zone.name)})</p>
${filled.map(([title, rows]) => htmlTable(title, rows)).join('\n')}
<p><a href="${escaped(overviewUrl)}">Open the overview</a></p>
<p style="font-size:13px">${escaped(reason)} <a href="${escaped(unsubscribeUrl)}">Get no more of them</a>.</p>
</body>
</html>
`,
    headers: {
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  }
}

const textLine = ([name, value, note]: Row): string =>
  `  ${value.padStart(10)}  ${name}${note === '' ? '' : ` (${note})`}`

const htmlTable = (title: string, rows: readonly Row[]): string =>
  `<h2 style="margin:0;font-size:15px">${escaped(title)}</h2>
<table cellpadding="0" cellspacing="0" style="margin:0 0 16px;border-collapse:collapse">
${rows.map(htmlRow).join('\n')}
</table>`

const htmlRow = ([name, value, note]: Row): string =>
  `<tr><th scope="row" align="left" style="padding:4px 24px 4px 0;font-weight:400;word-break:break-word">${escaped(name)}</th>` +
  `<td align="right" style="padding:4px 12px 4px 0"><strong>${escaped(value)}</strong></td>` +
  `<td style="padding:4px 0;font-size:13px">${escaped(note)}</td></tr>`

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character]!)

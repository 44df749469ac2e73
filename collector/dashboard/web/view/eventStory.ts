import { wholeNumber } from '../format.ts'
import { labelOfValue } from './labels.ts'

/** The parts of an event that its story needs. */
export interface ToldEvent {
  event_type: string
  page_path?: string | null
  /** JSON. */
  event_data?: string | null
}

const detailLengthMax = 80

/** The action of a visitor, in words: "Added to cart" and "rye · 2". */
export function storyOf(event: ToldEvent): { action: string; detail: string } {
  const { event_type, page_path, event_data } = event
  const data = readData(event_data)
  if (isMeasurement(event)) return { action: 'Measured', detail: measured(data.properties) }
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const quoted = (value: unknown) => (text(value) ? `“${text(value)}”` : '')
  const told: Record<string, [action: string, detail: string]> = {
    page_view: ['Viewed a page', page_path ?? ''],
    click: ['Clicked', quoted(data.elementText) || text(data.elementIdentifier)],
    scroll_depth: ['Scrolled', `to ${String(data.threshold ?? '')} %`],
    copy: ['Copied text', quoted(data.text)],
    form_submission: ['Sent a form', formName(data.form)],
    search: ['Searched', quoted(data.query)],
    video: ['Video', [text(data.action), text(data.title)].filter(Boolean).join(' · ')],
    download: ['Downloaded', text(data.filename)],
    custom: [sentence(text(data.name)), propertiesText(data.properties)],
  }
  const [action, detail] = told[event_type] ?? [labelOfValue('event_type', event_type), '']
  const shown = detail.length > detailLengthMax ? `${detail.slice(0, detailLengthMax)}…` : detail
  return { action: action || labelOfValue('event_type', event_type), detail: shown }
}

/** Whether an event is a Web Vital, which the browser sends and no visitor does. */
export const isMeasurement = ({ event_type, event_data }: ToldEvent): boolean =>
  event_type === 'custom' && readData(event_data).name === 'web_vitals'

/** "LCP 2,032 ms · good" */
function measured(properties: unknown): string {
  const { name, value, rating } = (properties ?? {}) as Record<string, unknown>
  if (typeof value !== 'number') return propertiesText(properties)
  const amount = name === 'CLS' ? value.toFixed(2) : `${wholeNumber(Math.round(value))} ms`
  return `${String(name)} ${amount} · ${String(rating).replaceAll('-', ' ')}`
}

function readData(json: string | null | undefined): Record<string, unknown> {
  try {
    return (JSON.parse(json ?? '{}') as Record<string, unknown> | null) ?? {}
  } catch {
    return {}
  }
}

const formName = (form: unknown): string => {
  const { name, id } = (form ?? {}) as { name?: string | null; id?: string | null }
  return name || id ? `“${name || id}”` : ''
}

/** "added_to_cart" → "Added to cart". */
const sentence = (name: string): string => {
  const words = name.replace(/[_-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const propertiesText = (properties: unknown): string =>
  Object.values((properties ?? {}) as Record<string, unknown>)
    .filter((value) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(String)
    .join(' · ')

import type { EventData, EventType } from '../../../schemas/events/index.ts'
import type { ValidEvent } from '../../ingest/normalize/validateEvent.ts'
import { dayMs, hourMs } from '../../platform/days.ts'
import { type Random, seededRandom } from '../../platform/seededRandom.ts'
import { type SampleVisitor, sampleVisitors } from './sampleVisitors.ts'

export interface SampleEvent {
  visitor: SampleVisitor
  event: ValidEvent
}

/** The approximate number of events per day, Sunday first: most on weekends, and many on Mondays. */
const eventsByWeekday = [340, 320, 280, 270, 280, 300, 330]
/**
 * The share of each hour's visits, midnight UTC first: few at night, a peak at noon, and the most in the
 * evening.
 */
const hourWeights = [1, 1, 0, 0, 0, 1, 2, 4, 6, 7, 7, 8, 9, 8, 7, 7, 7, 8, 9, 11, 12, 10, 6, 3]
const botShare = 0.12

export const site = 'https://kiln-lane.example'
export const products = ['mug', 'bowl', 'jug', 'teapot', 'vase', 'plate']
const searches = ['mug', 'teapot', 'blue', 'vase', 'gift', 'soup bowl', 'plate set']
export const entrances = [
  null,
  null,
  'https://www.google.com/',
  'https://www.bing.com/',
  'https://www.instagram.com/',
  'https://pottery-weekly.example/ten-mugs',
]

/** The parameters that links of campaigns add to the address of their page. */
const tags = [
  'utm_source=newsletter&utm_medium=email&utm_campaign=spring_glazes',
  'utm_source=instagram&utm_medium=social&utm_campaign=mug_monday&utm_content=story',
  'utm_source=google&utm_medium=cpc&utm_campaign=stoneware&utm_term=stoneware+mug&gclid=EAIaIQobChMI0sample',
  'utm_source=facebook&utm_medium=paid_social&utm_campaign=stoneware&fbclid=IwAR0sample',
]

interface Page {
  path: string
  title: string
}

export const home: Page = { path: '/', title: 'Kiln Lane: stoneware for every day' }
export const catalogue: Page = { path: '/catalogue', title: 'All pots · Kiln Lane' }
export const about: Page = { path: '/about', title: 'About · Kiln Lane' }
const checkout: Page = { path: '/checkout', title: 'Basket · Kiln Lane' }
export const product = (item: string): Page => ({
  path: `/product?item=${item}`,
  title: `${item} · Kiln Lane`,
})
const results = (query: string): Page => ({
  path: `/search?q=${encodeURIComponent(query).replaceAll('%20', '+')}`,
  title: `“${query}” · Kiln Lane`,
})

const tagged = ({ path, title }: Page, tag: string): Page => ({
  path: `${path}${path.includes('?') ? '&' : '?'}${tag}`,
  title,
})

/** Returns the events of one day, counted from 1 January 1970, in order of time. */
export function planDay(dayNumber: number): SampleEvent[] {
  const random = seededRandom(dayNumber)
  const startMs = dayNumber * dayMs
  const enough = eventsByWeekday[new Date(startMs).getUTCDay()]! + random.integer(-15, 15)
  const events: SampleEvent[] = []
  while (events.length < enough) {
    const isBot = random.chance(botShare)
    const visitor = random.pick(sampleVisitors.filter((candidate) => candidate.isBot === isBot))
    const at = startMs + hourOf(random) * hourMs + random.integer(0, hourMs - 1)
    events.push(...new Visit(random, visitor, at).walk())
  }
  return (
    events
      // Omits events of a visit after midnight: a day is complete or absent.
      .filter(({ event }) => event.sentMillis + 1_000 < startMs + dayMs)
      .sort(
        (a, b) =>
          a.event.sentMillis - b.event.sentMillis || (a.event.event_id < b.event.event_id ? -1 : 1),
      )
  )
}

function hourOf(random: Random): number {
  const total = hourWeights.reduce((sum, weight) => sum + weight)
  let left = random.next() * total
  return hourWeights.findIndex((weight) => {
    left -= weight
    return left < 0
  })
}

type SampleElement = EventData<'click'>['element'] & Record<string, unknown>
type Own<D> = D extends unknown ? Omit<D, 'url' | 'timestamp'> : never

/** Makes an event that a page of the shop sends at this time. */
export const sampleEvent = <T extends EventType>(
  random: Random,
  atMs: number,
  url: string,
  event_type: T,
  own: Own<EventData<T>>,
): ValidEvent =>
  ({
    event_id: random.uuid(),
    event_type,
    event_data: { ...own, url, timestamp: new Date(atMs).toISOString() },
    sentMillis: atMs,
  }) as unknown as ValidEvent

/** One visitor's path through the shop. */
class Visit {
  readonly #random: Random
  readonly #visitor: SampleVisitor
  readonly #events: SampleEvent[] = []
  #at: number
  #url = ''

  constructor(random: Random, visitor: SampleVisitor, at: number) {
    this.#random = random
    this.#visitor = visitor
    this.#at = at
  }

  walk(): SampleEvent[] {
    if (this.#visitor.isBot) this.#crawl()
    else this.#shop()
    return this.#events
  }

  #crawl(): void {
    this.#open(home, null)
    const pages = [catalogue, about, ...products.map(product)]
    for (let page = this.#random.integer(1, 4); page > 0; page--)
      this.#open(this.#random.pick(pages))
  }

  #shop(): void {
    const random = this.#random
    const item = random.pick(products)
    const entrance = random.pick([home, home, catalogue, product(item)])
    this.#open(
      random.chance(0.3) ? tagged(entrance, random.pick(tags)) : entrance,
      random.pick(entrances),
    )
    this.#scroll()
    if (random.chance(0.14)) this.#copyCode()
    if (random.chance(0.3)) this.#search(random.pick(searches))
    else if (random.chance(0.6)) this.#follow(catalogue, 'Pots')
    for (let looked = random.integer(0, 3); looked > 0; looked--) {
      this.#follow(product(random.pick(products)), 'See this pot')
      if (random.chance(0.35)) this.#scroll()
    }
    if (random.chance(0.22)) this.#watchVideo()
    if (random.chance(0.12)) this.#downloadGuide()
    if (random.chance(0.3)) this.#buy(item)
  }

  #open(page: Page, referrer: string | null = this.#url): void {
    this.#wait(2, 40)
    this.#url = site + page.path
    const { screen, viewport } = this.#visitor
    this.#happens('page_view', { title: page.title, referrer, screen, viewport })
  }

  /** Opens a page: through a click on its link, or through the address bar, the keyboard or a new tab. */
  #follow(page: Page, linkText: string): void {
    this.#wait(4, 50)
    if (this.#random.chance(0.22)) this.#click('A', linkText, 'main>ul>li>a')
    this.#open(page)
  }

  #click(tagName: string, elementText: string, elementIdentifier: string): void {
    const { height, width } = this.#visitor.viewport
    const className = tagName === 'A' ? 'card' : 'button'
    const element: SampleElement = { ariaLabel: null, className, tagName, id: null, href: null }
    this.#happens('click', {
      element,
      elementIdentifier,
      elementText,
      coordinates: {
        x: this.#random.integer(0, width - 1),
        y: this.#random.integer(0, height - 1),
      },
    })
  }

  #scroll(): void {
    for (const threshold of [25, 50, 75, 100] as const) {
      if (!this.#random.chance(threshold === 25 ? 0.42 : 0.4)) return
      this.#wait(1, 9)
      const percentage = Math.min(100, threshold + this.#random.integer(0, 12))
      this.#happens('scroll_depth', { percentage, threshold })
    }
  }

  #copyCode(): void {
    this.#wait(5, 30)
    this.#happens('copy', { text: 'KILN-LANE-10', textLength: 12 })
  }

  #search(query: string): void {
    this.#open(results(query))
    this.#happens('search', { query, results_count: this.#random.integer(0, 4) })
  }

  #watchVideo(): void {
    this.#follow(about, 'About')
    this.#wait(3, 20)
    const video = (action: EventData<'video'>['action'], percent: number) => {
      const position = (8 * percent) / 100
      const source = { src: `${site}/wheel.webm`, title: 'A pot on the wheel' }
      this.#happens('video', { ...source, action, position, duration: 8, percent })
      this.#wait(2, 2)
    }
    const seesAll = this.#random.chance(0.6)
    video('play', 0)
    for (const percent of seesAll ? [25, 50, 75] : []) video('progress', percent)
    if (seesAll) video('ended', 100)
    else video('pause', this.#random.integer(1, 24))
  }

  #downloadGuide(): void {
    this.#wait(5, 40)
    this.#click('A', 'Care guide', '#care-guide')
    this.#happens('download', {
      href: `${site}/care-guide.pdf`,
      filename: 'care-guide.pdf',
      extension: 'pdf',
    })
  }

  #buy(item: string): void {
    this.#wait(5, 60)
    this.#click('BUTTON', 'Add to basket', '#add-to-basket')
    this.#happens('custom', {
      name: 'add_to_basket',
      properties: { item, price: 24, currency: 'GBP' },
    })
    if (this.#random.chance(0.4)) return
    this.#follow(checkout, 'Basket')
    this.#wait(30, 120)
    this.#happens('form_submission', {
      form: { id: 'checkout-form', name: 'checkout', action: `${site}/order`, method: 'post' },
      fields: ['name', 'email', 'country', 'message', 'discount_code'],
    })
    this.#open({ path: '/thanks', title: 'Thank you · Kiln Lane' })
  }

  #wait(leastSeconds: number, mostSeconds: number): void {
    this.#at += this.#random.integer(leastSeconds * 1_000, mostSeconds * 1_000)
  }

  #happens<T extends EventType>(event_type: T, own: Own<EventData<T>>): void {
    const event = sampleEvent(this.#random, this.#at, this.#url, event_type, own)
    this.#events.push({ visitor: this.#visitor, event })
    this.#at += 1
  }
}

import { encode, note } from '../queue.ts'
import { reacted } from '../reaction.ts'
import { restartScroll } from './scroll_depth.ts'
import { searched } from './submit.ts'

let shown = document.referrer
/** Of the page that is shown: within a page it is the page before. Every event has it. */
export let referrer: string

/** Title and sizes are read when the event is encoded: applications set titles late, sizes may force a layout. */
export const pageView = (data?: object): void => {
  note('page', () => ({
    title: document.title,
    sizes: [screen.width, screen.height, innerWidth, innerHeight],
    searched,
    results: document.querySelector<HTMLElement>('[data-footfall-results]')?.dataset.footfallResults,
    ...data,
  }))
}

/** A jump to a heading, or to where the page is already, shows no other page. */
const page = () => document.URL.replace(config.fragment, '')

/** What waits is encoded now: soon the title is another page's. */
export const navigated = (): void => {
  reacted()
  encode()
  referrer = shown
  pageView()
  shown = page()
  restartScroll()
}

export const moved = (): void => {
  if (page() !== shown) navigated()
}

/** Out of the back/forward cache. */
export const restored = (event: PageTransitionEvent): void => {
  if (event.persisted) navigated()
}

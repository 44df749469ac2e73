import type { Random } from '../../collector/platform/seededRandom.ts'
import type { CapturedType } from '../../schemas/captured.ts'
import type { EventType } from '../../schemas/events/index.ts'

const element = { tag: 'button', nth: 2, id: 'buy', class: 'css-1x2y3z', 'aria-label': 'Buy' }
const link = { tag: 'a', nth: 1, href: 'https://shop.example/prices.pdf', class: 'file' }
const form = { tag: 'form', nth: 1, id: 'search', name: 'f', action: '/find', method: 'get' }
const playing = {
  path: [{ tag: 'video', nth: 1, title: 'Film' }, { tag: 'main' }],
  currentSrc: 'https://shop.example/film.webm',
  currentTime: 5.2,
  duration: 10,
  ended: false,
}
const clicked = () => ({
  path: [{ ...element }, { ...link }, false, { tag: 'main', 'data-footfall-event': 'bought' }],
  label: { tag: 'img', nth: 1, alt: 'A pot' },
  text: ' Buy \n now ',
  clientX: 10,
  clientY: 20,
})
const size = { height: 900, width: 1600 }

/** Captured data of each type, without the common members (schemas/captured.ts). */
export const captured: Record<CapturedType, () => object> = {
  page: () => ({
    title: 'Pots for balconies',
    referrer: 'https://search.example/',
    sizes: [1920, 1080, 1600, 900],
    results: '12 results',
  }),
  click: clicked,
  auxclick: clicked,
  scroll: () => ({ percentage: 51.2, threshold: 50 }),
  copy: () => ({ text: 'terracotta', textLength: 10 }),
  cut: () => ({ text: 'terracotta', textLength: 10 }),
  submit: () => ({
    form: { ...form },
    base: 'https://shop.example/a/',
    fields: [
      ['q search on', 'pots'],
      ['full name text name', false],
      ['card text cc-number', false],
    ],
    prevented: 'pots',
  }),
  play: () => structuredClone(playing),
  pause: () => structuredClone(playing),
  timeupdate: () => structuredClone(playing),
  ended: () => structuredClone({ ...playing, ended: true }),
  track: () => ({
    name: 'variant_chosen',
    properties: { sku: 'POT-23', price: 24.5, tags: ['a', { b: null }] },
  }),
  identify: () => ({ hem: 'ab'.repeat(32) }),
  rage: clicked,
  dead: clicked,
}

/** The event_data that a back end sends of each type, without url and timestamp. */
export const complete: Record<EventType, () => object> = {
  page_view: () => ({ title: 'Shop', referrer: null, screen: { ...size }, viewport: { ...size } }),
  click: () => ({
    element: { ariaLabel: null, className: 'button', more: { kept: true } },
    elementIdentifier: '#buy',
    elementText: 'Buy',
    coordinates: { x: 1.5, y: 2 },
  }),
  scroll_depth: () => ({ percentage: 51, threshold: 50 }),
  copy: () => ({ text: 'terracotta', textLength: 10 }),
  form_submission: () => ({
    form: { id: null, name: 'f', action: 'https://shop.example/join', method: 'post' },
    fields: ['name', 'city'],
  }),
  search: () => ({ query: 'pots', results_count: 12 }),
  video: () => ({
    src: 'https://shop.example/film.webm',
    title: null,
    action: 'play',
    position: 5.2,
    duration: 10,
    percent: 52,
  }),
  download: () => ({ href: 'https://shop.example/a.pdf', filename: 'a.pdf', extension: 'pdf' }),
  custom: () => ({ name: 'bought', properties: { sku: 'POT-23', deep: { er: [1, 'two', null] } } }),
}

/** One of a record's values, by its name. */
export const pickFrom = <K extends string>(
  random: Random,
  record: Record<K, () => object>,
): [K, object] => {
  const key = random.pick(Object.keys(record) as K[])
  return [key, record[key]()]
}

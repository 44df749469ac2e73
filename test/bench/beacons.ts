import { randomUUID } from 'node:crypto'

/** Where an event id goes in a beacon's text; wrk and autocannon put a new one there for every request. */
export const idPlaceholder = '@EVENT_ID@'

/** The text of a beacon of `count` events as pixels send them, with placeholders for the event ids. */
export function beaconText(pixelId: string, count: number): string {
  const now = new Date().toISOString()
  return JSON.stringify({
    pixel_id: pixelId,
    cookie_id: randomUUID(),
    sent_at: now,
    events: Array.from({ length: count }, (_, index) => ({
      event_id: idPlaceholder,
      ...eventOf(index, now),
    })),
  })
}

/** A page view, then what a visitor does on it. */
function eventOf(index: number, timestamp: string) {
  const url = `https://shop.example/catalogue/pots?page=${index % 7}&colour=terracotta`
  switch (index % 4) {
    case 0:
      return {
        event_type: 'page_view',
        event_data: {
          url,
          title: 'Pots for balconies – Shop',
          referrer: 'https://search.example/?q=pots',
          ...{
            screen: { height: 1080, width: 1920 },
            viewport: { height: 947, width: 1903 },
            timestamp,
          },
        },
      }
    case 1:
      return {
        event_type: 'click',
        event_data: {
          url,
          element: { ariaLabel: null, className: 'button primary' },
          elementIdentifier: 'add-to-basket',
          elementText: 'Add to basket',
          coordinates: { x: 412, y: 633 },
          timestamp,
        },
      }
    case 2:
      return {
        event_type: 'scroll_depth',
        event_data: { url, percentage: 52, threshold: 50, timestamp },
      }
    default:
      return {
        event_type: 'custom',
        event_data: {
          url,
          name: 'variant_chosen',
          properties: { sku: 'POT-23', price: 24.5 },
          timestamp,
        },
      }
  }
}

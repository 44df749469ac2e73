import { Type } from 'typebox'
import { eventType, Nullable, Size, Text, Timestamp, Url } from './common.ts'

/** One per load, history navigation, bfcache restore or prerender activation. */
export const page_view = eventType(
  1,
  Type.Object({
    url: Url,
    title: Text,
    referrer: Nullable(Url),
    screen: Size,
    viewport: Size,
    timestamp: Timestamp,
  }),
)

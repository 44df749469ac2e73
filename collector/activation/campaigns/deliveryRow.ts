import type { Locate } from '../../ingest/normalize/address.ts'
import { storedIp } from '../../ingest/normalize/address.ts'
import { cachedDevice, membersWithoutBrowser } from '../../ingest/normalize/device.ts'
import { eventRow, sharedMembers } from '../../ingest/normalize/eventRow.ts'
import type { ValidDelivery } from './delivery.ts'

/** The pixel id of events without a pixel. */
const noPixel = '00000000-0000-0000-0000-000000000000'

/** Common values of all deliveries of one request. */
interface DeliveryContext {
  organizationId: string
  receivedMillis: number
  locate: Locate
}

/** Encodes a line for the `events` table. Without a visitor, the event's id replaces the cookie's. */
export function deliveryRow(
  delivery: ValidDelivery,
  { organizationId, receivedMillis, locate }: DeliveryContext,
): string {
  const { event_id, campaign_id, event_type, spend, tsMillis, page_url, user_agent, client_ip } =
    delivery
  // An empty text is treated as a missing one.
  const device = user_agent ? cachedDevice(user_agent).members : membersWithoutBrowser(null)
  const shared = sharedMembers({
    organizationId,
    projectId: delivery.projectId,
    pixelId: noPixel,
    cookieId: delivery.cookie_id ?? event_id,
    // A DSP sends no consent, so the address is truncated.
    clientIp: client_ip ? storedIp(client_ip, 'truncated', false) : null,
    deviceMembers: client_ip ? `${device},${locate(client_ip)}` : device,
    receivedMillis,
    clockCorrectionMs: 0,
  })
  const cost = spend.toFixed(6)
  const timestamp = new Date(tsMillis).toISOString()
  const event_data = { url: page_url || null, campaign_id, spend: Number(cost), timestamp }
  const row = eventRow({ event_id, event_type, event_data }, shared, tsMillis)
  return `${row.slice(0, -1)},"source":"svcdsp","campaign_id":"${campaign_id}","spend":${cost}}`
}

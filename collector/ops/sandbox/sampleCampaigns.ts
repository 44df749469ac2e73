import { deliveryRow } from '../../activation/campaigns/deliveryRow.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { locationMembers } from '../../ingest/normalize/address.ts'
import { dayMs } from '../../platform/days.ts'
import { seededRandom } from '../../platform/seededRandom.ts'
import { sampleVisitors } from './sampleVisitors.ts'

/** Gives campaigns a random sequence that differs from the visits of the same day. */
const seedOffset = 1_000_000

export const sampleCampaigns = [
  { campaignId: sampleIdentity.campaignId, name: 'Mugs for mornings', budget: 500 },
  { campaignId: '5a3b1e00-0000-4000-8000-00000000000d', name: 'Teapots', budget: null },
] as const

interface SampleOwner {
  organizationId: string
  projectId: string
}

/**
 * Returns the deliveries of the sample campaigns on one day, counted from 1 January 1970, as rows for
 * `events` in order of time.
 */
export function sampleDeliveries(owner: SampleOwner, dayNumber: number): string[] {
  const random = seededRandom(seedOffset + dayNumber)
  const moments = Array.from({ length: random.integer(60, 100) }, () =>
    random.integer(0, dayMs - 2_000),
  )
  return moments
    .sort((a, b) => a - b)
    .map((moment) => {
      const tsMillis = dayNumber * dayMs + moment
      const { cookieId, clientIp, userAgent, location } = random.pick(
        sampleVisitors.filter(({ isBot }) => !isBot),
      )
      return deliveryRow(
        {
          event_id: random.uuid(),
          event_type: random.chance(0.03) ? 'click' : 'impression',
          campaign_id: random.pick(sampleCampaigns).campaignId,
          ts: tsMillis,
          tsMillis,
          projectId: owner.projectId,
          spend: random.integer(1_000, 9_000) / 1e6,
          cookie_id: cookieId,
          client_ip: clientIp,
          user_agent: userAgent,
          page_url: 'https://pottery-weekly.example/',
        },
        {
          organizationId: owner.organizationId,
          receivedMillis: tsMillis + 1_000,
          locate: () => locationMembers(location),
        },
      )
    })
}

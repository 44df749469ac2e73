import { type Answered, jsonOf, type StandIn, startStandIn } from './standIn.ts'

interface Item {
  Data: { Name: string; TtlInMinutes: number; IPAddresses?: string[]; IPAddressRanges?: string[] }[]
}

export interface TradeDesk extends StandIn {
  /** Hashed addresses of the CRM data segment, base64. */
  hems: Set<string>
  /** Data element → addresses and networks. */
  addresses: Map<string, Set<string>>
}

export const tradeDesk = { advertiser_id: 'adv1', crm_data_id: 'crm1', api_token: 'ttd-token' }

/**
 * The Trade Desk's CRM data segments, whose drop addresses are good for one upload, and /data/firstpartyipaddress of its
 * Data API, which tells the items that failed by their number; private networks do.
 */
export async function startTradeDesk(): Promise<TradeDesk> {
  const hems = new Set<string>()
  const addresses = new Map<string, Set<string>>()
  const drops = new Set<string>()
  let dropCount = 0
  const segment = `/v3/crmdata/segment/${tradeDesk.advertiser_id}`
  const standIn = await startStandIn(
    (asked): Answered => {
      const path = asked.url.pathname
      if (asked.method === 'PUT' && path.startsWith('/drop/')) {
        if (!drops.delete(path)) return { status: 403 }
        for (const line of asked.body.toString().trimEnd().split('\n')) hems.add(line)
        return { status: 200 }
      }
      if (asked.headers['ttd-auth'] !== tradeDesk.api_token)
        return { status: 401, body: { ErrorCode: 'InvalidToken' } }
      if (asked.method === 'GET' && path === segment) {
        return {
          status: 200,
          body: {
            Segments: [{ CrmDataId: tradeDesk.crm_data_id, SegmentName: 'Visitors' }],
            PagingToken: null,
          },
        }
      }
      if (asked.method === 'POST' && path === `${segment}/${tradeDesk.crm_data_id}`) {
        const { PiiType } = jsonOf<{ PiiType: string }>(asked)
        if (PiiType !== 'EmailHashedUnifiedId2')
          return { status: 400, body: { Message: 'PiiType' } }
        const drop = `/drop/${++dropCount}`
        drops.add(drop)
        return { status: 200, body: { ReferenceId: String(dropCount), Url: standIn.url + drop } }
      }
      if (asked.method === 'POST' && path === '/data/firstpartyipaddress') {
        const { DataOwnerId, Items } = jsonOf<{ DataOwnerId: string; Items: Item[] }>(asked)
        if (DataOwnerId !== tradeDesk.advertiser_id)
          return { status: 403, body: { ErrorCode: 'AdvertiserMisconfigured' } }
        return take(Items)
      }
      return { status: 404, body: { ErrorCode: 'UnknownRequest' } }
    },
    ({ method }) => method === 'GET',
  )

  const take = (items: Item[]): Answered => {
    const FailedLines = items.flatMap(({ Data }, index) => {
      const [data] = Data
      const given = [...(data!.IPAddresses ?? []), ...(data!.IPAddressRanges ?? [])]
      const isPrivate = given.some((address) => address.startsWith('10.'))
      if (given.length === 0 || isPrivate) {
        const ErrorCode = given.length === 0 ? 'InvalidIPAddress' : 'NotTargetable'
        return [
          { ItemNumber: String(index + 1), ErrorCode, Message: 'not taken', DataName: data!.Name },
        ]
      }
      const known = addresses.get(data!.Name) ?? new Set()
      for (const address of given) known.add(address)
      addresses.set(data!.Name, known)
      return []
    })
    const isNone = items.length > 0 && FailedLines.length === items.length
    return { status: isNone ? 400 : 200, body: { FailedLines } }
  }
  return Object.assign(standIn, { hems, addresses })
}

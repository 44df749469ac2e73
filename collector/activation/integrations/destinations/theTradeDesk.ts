import { Type } from 'typebox'
import { strictObject } from '../../../api/http/commonSchemas.ts'
import type { OutboundResponse } from '../../../platform/outbound/outbound.ts'
import { apiBase, call, hostOf, readJson, requireAllowed } from './call.ts'
import {
  type Chunk,
  type DestinationContext,
  DestinationError,
  type DestinationType,
  exportedAll,
  failed,
  type Outcome,
  type OutgoingRecord,
} from './destination.ts'

const usual = { api: 'https://api.thetradedesk.com', data: 'https://usw-data.adsrvr.org' }
const settings = strictObject({
  advertiser_id: Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9]+$' }),
  crm_data_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[A-Za-z0-9_-]+$',
      description: 'The CRM data segment to add hems to; required for output_format hem.',
    }),
  ),
  segment_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description:
        'The first-party data element for addresses; required for ip_address and company_domain.',
    }),
  ),
  api_base: apiBase(usual.api),
  data_base: apiBase(usual.data),
})
const secrets = strictObject({
  api_token: Type.String({
    minLength: 8,
    maxLength: 2_000,
    description: 'The token for the header TTD-Auth.',
  }),
})

interface Settings {
  advertiser_id: string
  crm_data_id?: string
  segment_name?: string
  api_base?: string
  data_base?: string
}
type Context = DestinationContext<Settings, { api_token: string }>

/** How long addresses stay in a segment: 30 days, in minutes. */
const ttlMinutes = 30 * 24 * 60

/**
 * The Trade Desk. Hems have the form of UID2. They are uploaded to a CRM data segment: a line of base64 each, sent to the drop
 * address that /v3/crmdata/segment returns per upload. Addresses and networks are sent to /data/firstpartyipaddress
 * of its Data API, which reports each failed line. A hem cannot be removed from a segment: it expires there.
 */
export const theTradeDesk: DestinationType<typeof settings, typeof secrets> = {
  settings,
  secrets,
  formats: ['hem', 'ip_address', 'company_domain'],
  chunkRecords: (outputFormat) => (outputFormat === 'hem' ? 5_000 : 500),
  requiredSettings: (outputFormat) => [outputFormat === 'hem' ? 'crm_data_id' : 'segment_name'],
  hashes: 'uid2',
  rate: { perSecond: 5, burst: 10 },
  removes: false,
  open: (context) => ({
    async check(outputFormat) {
      // A separate server accepts addresses, and any response shows that it is reachable.
      if (outputFormat !== undefined && outputFormat !== 'hem')
        await call(context, { method: 'GET', url: dataUrl(context) })
      const { advertiser_id, crm_data_id } = context.settings
      const url = `${context.settings.api_base ?? usual.api}/v3/crmdata/segment/${advertiser_id}`
      const answer = await ask(context, 'GET', url)
      const { Segments = [] } = readJson<{
        Segments?: { CrmDataId: string; SegmentName: string }[]
      }>(answer, url)
      const segment = Segments.find(({ CrmDataId }) => CrmDataId === crm_data_id)
      if (crm_data_id !== undefined && !segment && Segments.length > 0) {
        throw new DestinationError(
          'needs_action',
          `The advertiser has no CRM data segment ${crm_data_id}.`,
        )
      }
      const named = segment ? `, with the segment ${segment.SegmentName}` : ''
      return `Connected to The Trade Desk${named}.`
    },
    fields: async () => null,
    send: (chunk) =>
      chunk.outputFormat === 'hem' ? dropHems(context, chunk) : sendAddresses(context, chunk),
  }),
}

async function dropHems(context: Context, { records }: Chunk): Promise<readonly Outcome[]> {
  const { advertiser_id, crm_data_id, api_base = usual.api } = context.settings
  if (crm_data_id === undefined) throw missing('crm_data_id', 'hem')
  const url = `${api_base}/v3/crmdata/segment/${advertiser_id}/${crm_data_id}`
  const answer = await ask(context, 'POST', url, {
    PiiType: 'EmailHashedUnifiedId2',
    MergeMode: 'Append',
  })
  const { Url } = readJson<{ ReferenceId: string; Url: string }>(answer, url)
  const lines = records.map(({ values }) =>
    Buffer.from(String(values.hem), 'hex').toString('base64'),
  )
  const dropped = await call(context, {
    method: 'PUT',
    url: Url,
    headers: { 'content-type': 'text/plain' },
    body: `${lines.join('\n')}\n`,
  })
  if (dropped.status >= 300) {
    // The address works for one upload, so the retry requests another one.
    throw new DestinationError('retry', `The Trade Desk’s drop address answered ${dropped.status}.`)
  }
  return exportedAll(records)
}

const dataUrl = ({ settings }: Context): string =>
  `${settings.data_base ?? usual.data}/data/firstpartyipaddress`

interface AddressAnswer {
  FailedLines?: { ItemNumber?: string | number; ErrorCode?: string; Message?: string }[]
}

async function sendAddresses(
  context: Context,
  { outputFormat, records }: Chunk,
): Promise<readonly Outcome[]> {
  const { advertiser_id, segment_name } = context.settings
  if (segment_name === undefined) throw missing('segment_name', outputFormat)
  const url = dataUrl(context)
  const answer = await ask(context, 'POST', url, {
    DataOwnerId: advertiser_id,
    Items: records.map((record) => ({ Data: [dataOf(record, segment_name)] })),
  })
  const { FailedLines = [] } = readJson<AddressAnswer>(answer, url)
  // Item numbers count from 1.
  const refused = new Map(FailedLines.map((line) => [Number(line.ItemNumber), line]))
  return records.map((_, index) => {
    const line = refused.get(index + 1)
    if (!line) return { exported: true }
    return failed(
      'never',
      `The Trade Desk: ${line.ErrorCode ?? 'Unknown'} ${line.Message ?? ''}`.trim(),
    )
  })
}

/** All addresses of a person are one element; the networks of a company are another. */
function dataOf({ values }: OutgoingRecord, segmentName: string) {
  const {
    company_domain,
    ip_addresses = [],
    networks = [],
  } = values as {
    company_domain?: string
    ip_addresses?: string[]
    networks?: string[]
  }
  return {
    Name: company_domain === undefined ? segmentName : `${segmentName}: ${company_domain}`,
    TtlInMinutes: ttlMinutes,
    ...(ip_addresses.length > 0 && { IPAddresses: ip_addresses }),
    ...(networks.length > 0 && { IPAddressRanges: networks }),
  }
}

const missing = (setting: string, outputFormat: string) =>
  new DestinationError(
    'needs_action',
    `The integration’s setting ${setting} is required for ${outputFormat}.`,
  )

async function ask(
  context: Context,
  method: 'GET' | 'POST',
  url: string,
  json?: object,
): Promise<OutboundResponse> {
  const answer = await call(context, {
    method,
    url,
    headers: {
      'ttd-auth': context.secrets.api_token,
      ...(json && { 'content-type': 'application/json' }),
    },
    ...(json && { body: JSON.stringify(json) }),
  })
  requireAllowed(answer, url, 'the API token for this advertiser')
  // If all addresses failed, the status is 400, and the body lists the failures as for 200.
  const tellsLines = answer.status === 400 && answer.body.includes('"FailedLines"')
  if (answer.status >= 400 && !tellsLines) {
    throw new DestinationError('needs_action', `${hostOf(url)} answered ${answer.status}.`)
  }
  return answer
}

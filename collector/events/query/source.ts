import { Choice } from '../../api/http/commonSchemas.ts'
import { readNames } from '../../api/http/nameList.ts'

/** The spec's values of `source`. */
export const sources = ['pixel', 'svcdsp'] as const
export type Source = (typeof sources)[number]

/** The parameter `source`; sourceOf returns the default. */
export const SourceName = Choice(sources, {
  description:
    'pixel: events of pixels. svcdsp: events of DSP campaigns (impression and click), with null in fields that the DSP does not send. Default: pixel, unless campaign_id, a filter or group_by names campaigns.',
})

interface Named {
  source?: Source | undefined
  campaign_id?: string | undefined
  group_by?: string | undefined
}

const campaignFields = ['source', 'campaign_id', 'spend']

/**
 * Returns the source of a read; null: both. A project consists of its pixels (spec: Events, version 3), so
 * DSP events are read only if the request refers to them.
 */
export function sourceOf(
  { source, campaign_id, group_by }: Named,
  fields: readonly { name: string }[],
): Source | null {
  if (source) return source
  const named = [
    ...fields.map(({ name }) => name),
    ...(group_by === undefined ? [] : readNames('group_by', group_by)),
  ]
  const isAboutCampaigns =
    campaign_id !== undefined || campaignFields.some((name) => named.includes(name))
  return isAboutCampaigns ? null : 'pixel'
}

import type { DestinationType, IntegrationType } from './destination.ts'
import { hubspot } from './hubspot.ts'
import { metaAds } from './metaAds.ts'
import { s3 } from './s3.ts'
import { salesforce } from './salesforce.ts'
import { theTradeDesk } from './theTradeDesk.ts'
import { webhook } from './webhook.ts'

export const destinationTypes: Readonly<Record<IntegrationType, DestinationType>> = {
  hubspot,
  salesforce,
  s3,
  webhook,
  the_trade_desk: theTradeDesk,
  meta_ads: metaAds,
} as unknown as Readonly<Record<IntegrationType, DestinationType>>

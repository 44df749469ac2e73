import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { catalogAccess } from '../api/access/recordAccess.ts'
import { Timestamp } from '../api/http/commonSchemas.ts'
import type { BillingDeps } from './billingDeps.ts'
import { Currency, MeterName, Micros, tags } from './billingSchemas.ts'
import { type Meter, meters } from './meters.ts'
import { currency, defaultPrices } from './prices.ts'

const MeterPrice = Type.Object(
  {
    meter: MeterName,
    micros_per_thousand: Micros('Price of 1,000 records.'),
    free_records_per_month: Type.Integer({
      description: 'Records of a calendar month (UTC) that are free.',
    }),
    free_records_used: Type.Integer({
      description: 'Free records that your organization has used in the current month.',
    }),
  },
  { title: 'MeterPrice' },
)

const FreeAnswers = Type.Object(
  {
    per_day: Type.Integer({ description: 'Free answers about people per UTC day.' }),
    left: Type.Integer({ description: 'Free answers that are left today.' }),
    resets_at: Timestamp,
  },
  { title: 'FreeAnswers' },
)

interface PriceRow {
  meter: Meter
  micros: string | null
  free: string | null
  used: string | null
}

/** GET /api/v1/billing/prices: the prices of the caller's organization, and its free answers of today. */
export const pricesRoute =
  ({
    postgres,
    allowance,
  }: Pick<BillingDeps, 'postgres' | 'allowance'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/billing/prices',
      {
        config: { access: catalogAccess },
        schema: {
          tags,
          operationId: 'getPrices',
          summary: 'Get the price of each meter',
          description:
            'Returns the prices that apply to your organization, so that you can calculate the cost of a request before you send it. `free_answers` has the number of free answers about people that are left today.',
          response: {
            200: Type.Object({
              currency: Currency,
              prices: Type.Array(MeterPrice),
              free_answers: FreeAnswers,
            }),
          },
        },
      },
      async ({ principal: { organizationId } }) => {
        const { rows } = await postgres.query<PriceRow>(
          `SELECT meter, micros_per_thousand AS micros, free_records_per_month AS free, used.records AS used
           FROM (SELECT * FROM meter_prices WHERE organization_id = $1) AS own FULL JOIN (
             SELECT meter, free_records AS records FROM usage_totals
             WHERE organization_id = $1 AND project_id = '00000000-0000-0000-0000-000000000000' AND period = 'month'
               AND starts = date_trunc('month', now() AT TIME ZONE 'UTC')::date) AS used USING (meter)`,
          [organizationId],
        )
        const own = new Map(rows.map((row) => [row.meter, row]))
        return {
          currency,
          prices: meters.map((meter) => ({
            meter,
            micros_per_thousand: Number(
              own.get(meter)?.micros ?? defaultPrices[meter].microsPerThousand,
            ),
            free_records_per_month: Number(
              own.get(meter)?.free ?? defaultPrices[meter].freeRecordsPerMonth,
            ),
            free_records_used: Number(own.get(meter)?.used ?? 0),
          })),
          free_answers: await allowance.read(organizationId),
        }
      },
    )
  }

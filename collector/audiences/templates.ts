import type { Static } from 'typebox'
import type { Definition } from './audienceSchemas.ts'

export interface Template {
  readonly template_id: string
  readonly name: string
  readonly description: string
  readonly definition: Static<typeof Definition>
}

const pageView = (path: string, withinDays: number, more: object = {}) => ({
  event: {
    event_type: 'page_view',
    filter: `page_path:like:${path}`,
    within_days: withinDays,
    ...more,
  },
})
const eventOf = (event_type: string, within_days: number, more: object = {}) => ({
  event: { event_type, within_days, ...more },
})
const intent = (topics: readonly string[], min_score: number) => ({ intent: { topics, min_score } })
const profile = (field: string, op: string, value: unknown) => ({ profile: { field, op, value } })
type Node = Record<string, unknown>
const people = (include: Node, exclude?: Node): Template['definition'] => ({
  entity: 'people',
  include,
  ...(exclude && { exclude }),
})
const companies = (include: Node): Template['definition'] => ({ entity: 'companies', include })

const anyVisit = (withinDays: number, more: object = {}) => eventOf('page_view', withinDays, more)
const basket = (withinDays: number) =>
  eventOf('custom', withinDays, { filter: 'event_data.name:eq:add_to_basket' })

/** Templates, the most common first. Paths and names are those of the sample shop, which users replace. */
export const templates: readonly Template[] = [
  {
    template_id: 'product_visitors_without_order',
    name: 'Product visitors who did not order',
    description: 'Looked at a product at least twice in 14 days, and sent no order form.',
    definition: people(pageView('/product%', 14, { at_least: 2 }), eventOf('form_submission', 14)),
  },
  {
    template_id: 'abandoned_basket',
    name: 'Abandoned baskets',
    description:
      'Put a product into the basket in the last 7 days, and did not reach the thank-you page.',
    definition: people(basket(7), pageView('/thanks', 7)),
  },
  {
    template_id: 'checkout_visitors',
    name: 'Checkout visitors',
    description: 'Opened the checkout in the last 30 days.',
    definition: people(pageView('/checkout%', 30)),
  },
  {
    template_id: 'customers',
    name: 'Customers',
    description: 'Sent an order form in the last 30 days.',
    definition: people(eventOf('form_submission', 30)),
  },
  {
    template_id: 'lapsed_customers',
    name: 'Lapsed customers',
    description: 'Ordered in the last 30 days, and have not been seen for a week.',
    definition: people(eventOf('form_submission', 30), anyVisit(7)),
  },
  {
    template_id: 'frequent_visitors',
    name: 'Frequent visitors',
    description: 'Viewed at least 10 pages in the last 30 days.',
    definition: people(anyVisit(30, { at_least: 10 })),
  },
  {
    template_id: 'guide_readers',
    name: 'Readers of the guide',
    description: 'Downloaded a file in the last 30 days.',
    definition: people(eventOf('download', 30)),
  },
  {
    template_id: 'video_viewers',
    name: 'Viewers of a complete video',
    description: 'Watched a video to its end in the last 30 days.',
    definition: people(eventOf('video', 30, { filter: 'event_data.action:eq:ended' })),
  },
  {
    template_id: 'searchers_without_basket',
    name: 'Searched, found nothing to buy',
    description: 'Used the search in the last 14 days, and put nothing into the basket.',
    definition: people(eventOf('search', 14), basket(14)),
  },
  {
    template_id: 'campaign_visitors',
    name: 'Visitors from campaigns',
    description: 'Came by a link with utm_source in the last 30 days.',
    definition: people(anyVisit(30, { filter: 'utm_medium:in:email|social|cpc|paid_social' })),
  },
  {
    template_id: 'discount_hunters',
    name: 'Discount hunters',
    description: 'Copied a text, such as a discount code, in the last 30 days.',
    definition: people(eventOf('copy', 30)),
  },
  {
    template_id: 'visiting_decision_makers',
    name: 'Decision makers who visited',
    description:
      'May decide over purchases of their department, and viewed a page in the last 30 days.',
    definition: people({ all: [anyVisit(30), profile('job_is_decision_maker', 'eq', true)] }),
  },
  {
    template_id: 'changed_company',
    name: 'Champions who changed company',
    description:
      'Visited in the last 30 days, have worked for another company before, and began a new job since 2020.',
    definition: people({
      all: [
        anyVisit(30),
        profile('previous_company_name', 'is_set', true),
        profile('job_start_year', 'gte', 2020),
      ],
    }),
  },
  {
    template_id: 'reachable_visitors',
    name: 'Visitors with a valid business e-mail',
    description: 'Visited in the last 30 days, and mail to their business address arrives.',
    definition: people({
      all: [
        anyVisit(30),
        profile('business_email', 'is_set', true),
        profile('email_status', 'eq', 'valid'),
      ],
    }),
  },
  {
    template_id: 'topic_surge',
    name: 'Surge on a topic',
    description: 'Far more interested in tableware than in the twelve weeks before the window.',
    definition: people(intent(['tableware', 'ceramics_and_pottery'], 60)),
  },
  {
    template_id: 'interested_visitors',
    name: 'Interested visitors',
    description: 'Interested in products of the shop, and viewed a page in the last 30 days.',
    definition: people({
      all: [intent(['tableware', 'home_decoration', 'handmade_gifts'], 30), anyVisit(30)],
    }),
  },
  {
    template_id: 'companies_surging',
    name: 'Companies with a surge on a topic',
    description: 'Corporate gifts, by signals of the company and of the people who work there.',
    definition: companies(intent(['corporate_gifts'], 50)),
  },
  {
    template_id: 'visiting_companies',
    name: 'Companies that visit',
    description: 'At least 5 pages were viewed by people who work there, in the last 30 days.',
    definition: companies(anyVisit(30, { at_least: 5 })),
  },
  {
    template_id: 'companies_close_to_order',
    name: 'Companies close to an order',
    description: 'A person who works there opened the checkout in the last 30 days.',
    definition: companies(pageView('/checkout%', 30)),
  },
]

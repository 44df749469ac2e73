import { Type } from 'typebox'
import {
  Day,
  Id,
  Name,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../../api/http/commonSchemas.ts'
import { CursorParameter } from '../../api/http/pagination.ts'

const Status = Type.Union([
  Type.Literal('draft'),
  Type.Literal('active'),
  Type.Literal('paused'),
  Type.Literal('completed'),
])

/** An amount with up to six decimals; all campaigns of an organization use one unnamed currency. */
export const Money = (description: string) =>
  Type.Number({
    minimum: 0,
    maximum: 1_000_000_000,
    description: `${description} Rounded to six decimals.`,
  })

const settings = {
  name: Name,
  status: Status,
  budget: Nullable(Money('Budget of the flight. Null: unlimited.')),
  start_date: Type.String({ format: 'date', description: 'First day of the flight, UTC.' }),
  end_date: Nullable(
    Type.String({ format: 'date', description: 'Last day of the flight, UTC. Null: no end.' }),
  ),
  audience_id: Nullable(
    Type.String({
      format: 'uuid',
      description: 'The audience of the campaign, in the same project.',
    }),
  ),
}

export const Campaign = Type.Object(
  {
    campaign_id: Id,
    project_id: Id,
    ...settings,
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Campaign' },
)

const { name, start_date, ...optional } = Type.Partial(Type.Object(settings)).properties

export const NewCampaign = strictObject({
  project_id: Type.Optional(Id),
  name: settings.name,
  start_date: settings.start_date,
  ...optional,
})

export const CampaignChange = strictObject({
  name,
  start_date,
  ...optional,
  version: SeenVersion,
})

const project = { project_id: Type.Optional(Id) }

/** Parameters that select the campaigns and the page of a list or a summary. */
const chosen = {
  ...project,
  status: Type.Optional(Status),
  campaign_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Only this campaign. Not available to project keys.',
    }),
  ),
  audience_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Only campaigns of this audience. Not available to project keys.',
    }),
  ),
}
const page = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 100,
      description: 'Maximum number of campaigns.',
    }),
  ),
  cursor: Type.Optional(CursorParameter),
}
const days = {
  start_date: Type.Optional(
    Type.String({
      format: 'date',
      description: 'First day, UTC. Default: the first day with data.',
    }),
  ),
  end_date: Type.Optional(
    Type.String({ format: 'date', description: 'Last day, UTC. Default: the last day with data.' }),
  ),
}

export const ById = Type.Object({ campaign_id: Type.String() })
export const ProjectQuery = strictObject(project)
export const ListQuery = strictObject({ ...chosen, ...page })
export const PerformanceQuery = strictObject({ ...project, ...days })
export const SummaryQuery = strictObject({ ...chosen, ...days, ...page })

const counts = {
  impressions: Type.Integer(),
  clicks: Type.Integer(),
  spend: Type.Number(),
}

/** Spec: Campaign performance. */
export const Metrics = Type.Object(
  {
    ...counts,
    ctr: Type.Number({
      description: 'Clicks ÷ impressions, to six decimals; 0 without impressions.',
    }),
    cpm: Type.Number({
      description: 'Spend for 1,000 impressions, to six decimals; 0 without impressions.',
    }),
  },
  { title: 'CampaignMetrics' },
)
export const Daily = Type.Array(Type.Object({ date: Day, ...counts }))

export const BudgetFigures = {
  budget: Type.Union([Type.Number(), Type.Null()]),
  spend: Type.Number(),
  remaining: Nullable(Type.Number({ description: 'Budget − spend; below zero when overspent.' })),
  utilization: Nullable(Type.Number({ description: 'Spend ÷ budget, to six decimals.' })),
}

export const Pace = Type.Union(
  [
    Type.Literal('not_started'),
    Type.Literal('underpacing'),
    Type.Literal('on_track'),
    Type.Literal('overpacing'),
    Type.Literal('exhausted'),
    Type.Literal('ended'),
    Type.Literal('open_ended'),
    Type.Literal('no_budget'),
  ],
  {
    description:
      'Compares spend with the budget spread evenly over the flight. on_track: within 10 %. open_ended: no last day. no_budget: no budget.',
  },
)

export const BudgetStatus = Type.Object(
  {
    campaign_id: Id,
    project_id: Id,
    name: settings.name,
    status: Status,
    ...BudgetFigures,
    pacing: Type.Object({
      health: Pace,
      start_date: settings.start_date,
      end_date: settings.end_date,
      elapsed: Nullable(
        Type.Number({ description: 'Share of the flight that has passed, 0 to 1.' }),
      ),
      expected_spend: Nullable(Type.Number({ description: 'The spend expected until now.' })),
      ratio: Nullable(Type.Number({ description: 'Spend ÷ expected_spend.' })),
    }),
  },
  { title: 'BudgetStatus' },
)

export const tags = ['Campaigns']

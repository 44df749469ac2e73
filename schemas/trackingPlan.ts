import { type Static, Type } from 'typebox'

/** Most custom events that a plan names. */
export const plannedEventsMax = 500

/** The custom events that the pixel itself sends, which no plan has to name. */
export const ownCustomEvents: ReadonlySet<string> = new Set([
  'web_vitals',
  'rage_click',
  'dead_click',
])

const PlannedEvent = Type.Object(
  {
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    schema: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The JSON Schema of `properties`.',
    }),
  },
  { additionalProperties: false, title: 'PlannedEvent' },
)

/** The members of a plan, in the API, the dashboard and a file of a repository. */
export const trackingPlanMembers = {
  on_violation: Type.Union([Type.Literal('mark'), Type.Literal('reject')], {
    description:
      'For events that violate their schema. `mark` stores them with `event_data.plan_violation`; `reject` rejects them.',
  }),
  on_unplanned: Type.Union([Type.Literal('accept'), Type.Literal('mark'), Type.Literal('reject')], {
    description: 'For custom events that the plan does not name.',
  }),
  events: Type.Record(Type.String(), PlannedEvent, {
    description: `The planned custom events by name, at most ${plannedEventsMax}.`,
    examples: [
      {
        'Signed up': {
          description: 'A visitor created an account.',
          schema: { type: 'object', properties: { plan: { enum: ['free', 'pro'] } } },
        },
      },
    ],
  }),
}

const Plan = Type.Object(trackingPlanMembers)
export type TrackingPlan = Static<typeof Plan>
export type PlannedEvent = Static<typeof PlannedEvent>

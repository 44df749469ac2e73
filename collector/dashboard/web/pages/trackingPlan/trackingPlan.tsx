import { useState } from 'preact/hooks'
import { api, type TrackingPlan } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Select } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { Page, Section } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { toast } from '../../components/toast.tsx'
import { wholeNumber } from '../../format.ts'
import { projectRole } from '../../projectRole.ts'
import { useQuery } from '../../useQuery.ts'
import { type EditedEvent, PlannedEventDialog } from './plannedEventDialog.tsx'

type Plan = Pick<TrackingPlan, 'on_violation' | 'on_unplanned' | 'events'>

const none: Plan = { on_violation: 'mark', on_unplanned: 'accept', events: {} }

/** The planned custom events of a project, and received events that the plan does not contain. */
export function TrackingPlanPage({ projectId }: { projectId: string }) {
  const asked = useQuery(async () => {
    const [{ tracking_plan }, { events }, role] = await Promise.all([
      api.getTrackingPlan({ project_id: projectId }),
      api.listUnplannedEvents({ project_id: projectId }),
      projectRole(projectId),
    ])
    return { stored: tracking_plan, unplanned: events, mayEdit: role === 'admin' }
  })
  const [edited, setEdited] = useState<EditedEvent | null>(null)
  const stored = asked.value?.stored ?? null
  const save = async (change: Partial<Plan>) => {
    const { on_violation, on_unplanned, events } = { ...(stored ?? none), ...change }
    await api.setTrackingPlan({
      project_id: projectId,
      on_violation,
      on_unplanned,
      events,
      ...(stored && { version: stored.version }),
    })
    await asked.reload()
    toast('Plan saved: collectors apply it within seconds')
  }
  const add = (
    <button type="button" class="primary" onClick={() => setEdited({ name: '', schema: null })}>
      Plan an event
    </button>
  )
  return (
    <Page
      title="Tracking plan"
      lead="Which custom events your site sends, and what their properties look like."
      actions={asked.value?.mayEdit && add}
    >
      <AsyncView query={asked}>
        {({ unplanned, mayEdit }) => (
          <>
            <PlannedEvents plan={stored ?? none} open={setEdited} />
            <Unplanned events={unplanned} open={setEdited} />
            <Modes plan={stored ?? none} mayEdit={mayEdit} save={save} />
            {edited && (
              <PlannedEventDialog
                event={edited}
                events={(stored ?? none).events}
                mayEdit={mayEdit}
                save={(events) => save({ events })}
                close={() => setEdited(null)}
              />
            )}
          </>
        )}
      </AsyncView>
    </Page>
  )
}

function PlannedEvents({ plan, open }: { plan: Plan; open(event: EditedEvent): void }) {
  const rows = Object.entries(plan.events).map(([name, event]) => ({ name, ...event }))
  return (
    <Section title="Planned events">
      <DataTable
        caption="Planned events"
        columns={[
          { name: 'name', label: 'Event', value: ({ name }) => name },
          {
            name: 'description',
            label: 'Description',
            value: ({ description }) => description ?? null,
          },
          {
            name: 'properties',
            label: 'Properties',
            value: ({ schema }) => Object.keys(schema.properties ?? {}).join(', '),
          },
        ]}
        rows={rows}
        keyOf={({ name }) => name}
        open={({ name, description, schema }) =>
          open({ name, schema, ...(description && { description }), isPlanned: true })
        }
        empty={
          <p>No event is planned. Plan one, or push a file with npx footfall-server plan push.</p>
        }
      />
    </Section>
  )
}

type UnplannedEvent = Awaited<ReturnType<typeof api.listUnplannedEvents>>['events'][number]

function Unplanned({ events, open }: { events: UnplannedEvent[]; open(event: EditedEvent): void }) {
  return (
    <Section
      title="Events outside the plan"
      lead="Custom events of the last 30 days that the plan does not name. Open one to add it."
    >
      <DataTable
        caption="Events outside the plan"
        prefix="outside-"
        columns={[
          { name: 'name', label: 'Event', value: ({ name }) => name },
          {
            name: 'events',
            label: 'Events',
            value: ({ events }) => events,
            show: ({ events }) => wholeNumber(events),
            isNumber: true,
          },
          {
            name: 'last',
            label: 'Last event',
            value: ({ last_event_at }) => last_event_at,
            show: ({ last_event_at }) => <RelativeTime at={last_event_at} />,
          },
        ]}
        rows={events}
        keyOf={({ name }) => name}
        open={({ name, example }) => open({ name, schema: example.schema })}
        empty={<p>Every custom event of the last 30 days is planned.</p>}
      />
    </Section>
  )
}

function Modes({
  plan,
  mayEdit,
  save,
}: {
  plan: Plan
  mayEdit: boolean
  save(change: Partial<Plan>): Promise<void>
}) {
  return (
    <Section
      title="Events that differ from the plan"
      lead="Marked events are stored with event_data.plan_violation. Repairs lists rejected events."
    >
      <fieldset class="bare card" disabled={!mayEdit}>
        <legend class="visually-hidden">Events that differ from the plan</legend>
        <Form
          values={{ on_violation: plan.on_violation, on_unplanned: plan.on_unplanned }}
          submit={({ on_violation, on_unplanned }) =>
            save({
              on_violation: on_violation as Plan['on_violation'],
              on_unplanned: on_unplanned as Plan['on_unplanned'],
            })
          }
          action="Save settings"
        >
          <Select
            name="on_violation"
            label="Events that violate their schema"
            options={{ mark: 'Mark', reject: 'Reject' }}
          />
          <Select
            name="on_unplanned"
            label="Events outside the plan"
            options={{ accept: 'Accept', mark: 'Mark', reject: 'Reject' }}
          />
        </Form>
      </fieldset>
    </Section>
  )
}

import { useState } from 'preact/hooks'
import { type Alert, api } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Checkbox, Select, TextField } from '../../components/fields.tsx'
import { Form, type Values } from '../../components/form.tsx'
import { toast } from '../../components/toast.tsx'
import { ConditionBuilder } from '../../view/conditionBuilder.tsx'
import { ChannelFields, channelsOf, channelValues } from './channelFields.tsx'
import { kindNames, metricNames, windowNames } from './conditionText.ts'
import { channelsIn, type Receivers, receiversText } from './receivers.ts'

type Condition = Alert['condition']
type Kind = Condition['kind']

const first: Values = {
  kind: 'threshold',
  metric: 'visitors',
  window: 'hour',
  direction: 'above',
  value: '100',
  active: 'on',
}

const valuesOf = (alert: Alert): Values => ({
  ...alert.condition,
  name: alert.name,
  value: String(alert.condition.value),
  active: alert.active ? 'on' : '',
  ...channelValues(alert),
})

/** Creates an alert, changes one or deletes it. */
export function AlertDialog({
  projectId,
  alert,
  goals,
  receivers,
  saved,
  close,
}: {
  projectId: string
  alert: Alert | null
  goals: string[]
  receivers: Receivers
  saved(): Promise<unknown>
  close(): void
}) {
  const [kind, setKind] = useState<Kind>(alert?.condition.kind ?? 'threshold')
  const [values, setValues] = useState(alert ? valuesOf(alert) : first)
  const hasReceiver =
    receiversText(channelsIn(values, alert, receivers), receivers, 'alert.raised') !== ''
  const done = async (said: string) => {
    toast(said)
    close()
    await saved()
  }
  const submit = async (values: Values) => {
    const { name = '' } = values
    const input = {
      project_id: projectId,
      name,
      condition: conditionOf(kind, values),
      active: values.active === 'on',
      ...channelsOf(values, alert, receivers),
    }
    if (alert) await api.updateAlert({ alert_id: alert.alert_id, ...input, version: alert.version })
    else await api.createAlert(input)
    await done('Alert saved')
  }
  return (
    <Dialog title={alert ? `Change ${alert.name}` : 'New alert'} close={close}>
      <Form
        values={alert ? valuesOf(alert) : first}
        submit={submit}
        edited={setValues}
        action={hasReceiver ? 'Save alert' : 'Save without a receiver'}
        cancel={close}
      >
        <TextField name="name" label="Name" maxLength={200} required />
        <Select
          name="kind"
          label="Report when"
          options={kindNames}
          onChange={(value) => setKind(value as Kind)}
        />
        <ConditionFields
          projectId={projectId}
          kind={kind}
          goals={goals}
          filter={alert?.condition.filter ?? ''}
        />
        <ChannelFields alert={alert} receivers={receivers} hasReceiver={hasReceiver} />
        <Checkbox name="active" label="Check this alert" />
      </Form>
      {alert && (
        <button
          type="button"
          class="danger"
          onClick={async () => {
            await api.deleteAlert({ alert_id: alert.alert_id })
            await done('Alert deleted')
          }}
        >
          Delete alert
        </button>
      )}
    </Dialog>
  )
}

function ConditionFields({
  projectId,
  kind,
  goals,
  filter,
}: {
  projectId: string
  kind: Kind
  goals: string[]
  filter: string
}) {
  const [isFiltered, setFiltered] = useState(filter !== '')
  const compares = kind === 'threshold' || kind === 'change'
  const directions = {
    above: 'Above',
    below: 'Below',
    ...(kind === 'change' && { either: 'Above or below' }),
  }
  return (
    <>
      {compares && <Select name="metric" label="Figure" options={metricNames} />}
      {compares && <Select name="direction" label="Above or below" options={directions} />}
      {kind === 'goal' && (
        <Select
          name="goal"
          label="Goal"
          options={Object.fromEntries(goals.map((name) => [name, name]))}
        />
      )}
      {kind !== 'silence' && (
        <TextField
          name="value"
          label={kind === 'change' ? 'Percent' : kind === 'goal' ? 'Visitors' : 'Value'}
          type="number"
          min={0}
          required
        />
      )}
      <Select name="window" label="Period" options={windowNames} />
      {kind !== 'goal' && isFiltered && (
        <ConditionBuilder projectId={projectId} name="filter" value={filter} change={() => {}} />
      )}
      {kind !== 'goal' && (
        <button type="button" class="link" onClick={() => setFiltered(!isFiltered)}>
          {isFiltered ? 'Count all events' : 'Count only some events…'}
        </button>
      )}
    </>
  )
}

/** Returns the members of a condition for its kind. */
function conditionOf(kind: Kind, values: Values): Condition {
  const { metric, direction, window, value, filter, goal } = values
  return {
    kind,
    window: window as Condition['window'],
    metric: (metric ?? 'events') as Condition['metric'],
    direction: (direction ?? 'above') as Condition['direction'],
    value: Number(value ?? 1),
    ...(filter && { filter }),
    ...(kind === 'goal' && { goal: goal ?? '' }),
  }
}

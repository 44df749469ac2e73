import { useState } from 'preact/hooks'
import { api, type VisitAlert } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Checkbox, Select, TextField } from '../../components/fields.tsx'
import { Form, type Values } from '../../components/form.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { toast } from '../../components/toast.tsx'
import { ConditionBuilder } from '../../view/conditionBuilder.tsx'
import { ChannelFields, channelsOf, channelValues } from './channelFields.tsx'
import { channelsIn, type Receivers, receiversText } from './receivers.ts'

type Kind = VisitAlert['match']['kind']
type Tier = VisitAlert['tier']

const kindNames: Record<Kind, string> = {
  person: 'A person',
  company: 'People of a company',
  profile: 'Visitors by a filter',
  audience: 'Members of an audience',
}
const tierNames: Record<Tier, string> = {
  resolution_hem: 'Hashed e-mail',
  resolution_hem_pte: 'Hashed e-mail and ad ids',
  resolution_full_profile: 'Full profile',
}
const fullProfile: Tier = 'resolution_full_profile'
/** Kinds whose match reveals a field of the full profile. */
const isFullOnly = (kind: Kind): boolean => kind === 'company' || kind === 'audience'

const valuesOf = (alert: VisitAlert): Values => ({
  kind: alert.match.kind,
  person: alert.match.hem ?? '',
  company_domain: alert.match.company_domain ?? '',
  filter: alert.match.filter ?? '',
  audience_id: alert.match.audience_id ?? '',
  name: alert.name,
  tier: alert.tier,
  active: alert.active ? 'on' : '',
  unverified_charges_max: String(alert.unverified_charges_max),
  ...channelValues(alert),
})

/** Creates a visit alert, changes one or deletes it. Shows the price before it is saved. */
export function VisitAlertDialog({
  projectId,
  alert,
  audiences,
  receivers,
  saved,
  close,
}: {
  projectId: string
  alert: VisitAlert | null
  audiences: readonly { id: string; name: string }[]
  receivers: Receivers
  saved(): Promise<unknown>
  close(): void
}) {
  const [kind, setKind] = useState<Kind>(alert?.match.kind ?? 'company')
  const [chosenTier, setTier] = useState<Tier>(alert?.tier ?? fullProfile)
  const tier = isFullOnly(kind) ? fullProfile : chosenTier
  const prices = usePrices()
  const initial: Values = alert
    ? valuesOf(alert)
    : { kind, tier, active: 'on', unverified_charges_max: '0' }
  const [values, setValues] = useState(initial)
  const hasReceiver =
    receiversText(channelsIn(values, alert, receivers), receivers, 'visit.matched') !== ''
  const done = async (said: string) => {
    toast(said)
    close()
    await saved()
  }
  const submit = async (values: Values) => {
    const member = kind === 'person' ? 'person' : valueNames[kind]
    const input = {
      project_id: projectId,
      name: values.name ?? '',
      tier,
      match: { kind, [member]: values[member] ?? '' },
      active: values.active === 'on',
      unverified_charges_max: Number(values.unverified_charges_max ?? 0),
      ...channelsOf(values, alert, receivers),
    }
    if (alert)
      await api.updateVisitAlert({
        visit_alert_id: alert.visit_alert_id,
        ...input,
        version: alert.version,
      })
    else await api.createVisitAlert(input)
    await done('Visit alert saved')
  }
  return (
    <Dialog title={alert ? `Change ${alert.name}` : 'New visit alert'} close={close}>
      <Form
        values={initial}
        submit={submit}
        edited={setValues}
        action={hasReceiver ? 'Save visit alert' : 'Save without a receiver'}
        cancel={close}
      >
        <TextField name="name" label="Name" maxLength={200} required />
        <Select
          name="kind"
          label="Report visits of"
          options={kindNames}
          onChange={(value) => setKind(value as Kind)}
        />
        <MatchField
          projectId={projectId}
          kind={kind}
          tier={tier}
          filter={initial.filter ?? ''}
          audiences={audiences}
        />
        {!isFullOnly(kind) && (
          <Select
            name="tier"
            label="Identity data"
            options={tierNames}
            onChange={(value) => setTier(value as Tier)}
          />
        )}
        <p class="hint">
          Price: {prices.value ? costOf(prices.value, tier, 1) : 'one record'} for each reported
          person and day.
        </p>
        <TextField
          name="unverified_charges_max"
          label="Unverified visitors charged a day"
          hint="Anybody can send an unsigned identify call. Footfall reports such visitors free, without identity data, at most 20 times a day. To get the identity data, set how many a day are charged."
          type="number"
          min={0}
          max={1_000_000}
          required
        />
        <ChannelFields alert={alert} receivers={receivers} hasReceiver={hasReceiver} />
        <Checkbox name="active" label="Report visits" />
      </Form>
      {alert && (
        <button
          type="button"
          class="danger"
          onClick={async () => {
            await api.deleteVisitAlert({ visit_alert_id: alert.visit_alert_id })
            await done('Visit alert deleted')
          }}
        >
          Delete visit alert
        </button>
      )}
    </Dialog>
  )
}

const valueNames = {
  company: 'company_domain',
  profile: 'filter',
  audience: 'audience_id',
} as const

function MatchField({
  projectId,
  kind,
  tier,
  filter,
  audiences,
}: {
  projectId: string
  kind: Kind
  tier: Tier
  /** The saved filter. */
  filter: string
  audiences: readonly { id: string; name: string }[]
}) {
  switch (kind) {
    case 'person':
      return (
        <TextField
          name="person"
          label="E-mail address or its hash (SHA-256)"
          hint="Footfall stores only the hash."
          maxLength={254}
          required
        />
      )
    case 'company':
      return <TextField name="company_domain" label="Domain" maxLength={253} required />
    case 'profile':
      return (
        <ConditionBuilder
          projectId={projectId}
          name="filter"
          value={filter}
          tier={tier}
          change={() => {}}
        />
      )
    case 'audience':
      if (audiences.length === 0)
        return <p class="hint">The project has no audiences. Create one first.</p>
      return (
        <Select
          name="audience_id"
          label="Audience"
          options={Object.fromEntries(audiences.map(({ id, name }) => [id, name]))}
        />
      )
  }
}

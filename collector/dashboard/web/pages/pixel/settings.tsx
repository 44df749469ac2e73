import { api, type Pixel, type Settings } from '../../api.ts'
import { EditForm } from '../../components/editForm.tsx'
import {
  Checkbox,
  LinesField,
  linesFrom,
  linesOf,
  Select,
  TextField,
} from '../../components/fields.tsx'
import type { Values } from '../../components/form.tsx'
import { Section } from '../../components/page.tsx'
import { TabPanel } from '../../components/tabs.tsx'
import { toast } from '../../components/toast.tsx'
import { consentCall, consentOptions } from './consent.ts'

export const originsHint =
  'Sites that may send events, one on each line, such as https://www.example.com. Empty: any site.'

/** Tabs of the settings. */
export const settingGroups = { privacy: 'Privacy', capture: 'Capture' }
type Group = keyof typeof settingGroups
export type PixelTab = 'install' | Group | 'identify'
const set = 'pixel'

/** The field of a setting. */
type SettingField = { group: Group; label: string; hint: string } & (
  | { kind: 'switch' | 'lines' }
  | { kind: 'number' /** The value sent for an empty field. */; empty?: null }
  | { kind: 'choice'; options: Record<string, string> }
)

const settingFields: Record<keyof Settings, SettingField> = {
  consent: {
    group: 'privacy',
    kind: 'choice',
    label: 'Consent',
    hint: `Behavior${consentCall}.`,
    options: consentOptions,
  },
  honour_gpc: {
    group: 'privacy',
    kind: 'switch',
    label: 'Honour Global Privacy Control and Do Not Track',
    hint: 'Visitors who send either count as not consenting.',
  },
  ip: {
    group: 'privacy',
    kind: 'choice',
    label: 'IP addresses',
    hint: 'Without consent, at most the truncated address is stored. Changes apply to new events.',
    options: {
      truncated: 'Truncated: the network only (/24 or /48)',
      full: 'Full: the complete address, with consent',
      none: 'None: no address',
    },
  },
  drop_bots: {
    group: 'privacy',
    kind: 'switch',
    label: 'Drop events of bots',
    hint: 'Off: they are stored and marked is_bot.',
  },
  retention_days: {
    group: 'privacy',
    kind: 'number',
    empty: null,
    label: 'Keep events for (days)',
    hint: 'Older events are deleted. Empty: events are kept.',
  },
  text_length_max: {
    group: 'capture',
    kind: 'number',
    label: 'Maximum text length',
    hint: 'Longer texts of clicks and copies are truncated to this number of characters.',
  },
  mask_selectors: {
    group: 'privacy',
    kind: 'lines',
    label: 'Masked elements',
    hint: 'CSS selectors of elements whose text is never recorded, one on each line.',
  },
  ignore_query_parameters: {
    group: 'privacy',
    kind: 'lines',
    label: 'Excluded query parameters',
    hint: 'Removed from every URL before it leaves the page, one on each line. Tokens, passwords, keys and e-mail addresses are always removed.',
  },
  search_parameters: {
    group: 'capture',
    kind: 'lines',
    label: 'Search parameters',
    hint: 'Query parameters that contain search terms of visitors, one on each line.',
  },
  download_extensions: {
    group: 'capture',
    kind: 'lines',
    label: 'Download extensions',
    hint: 'Links to files with these extensions are downloads, one on each line.',
  },
  identify_forms: {
    group: 'privacy',
    kind: 'switch',
    label: 'Link visitors to e-mail addresses in submitted forms',
    hint: 'The address is hashed in the browser and never leaves the page. Requires consent.',
  },
  require_signed_identify: {
    group: 'privacy',
    kind: 'switch',
    label: 'Require signed identify',
    hint: 'Only a signature of your server links visitors to an e-mail address. Forms do not.',
  },
  track_hash: {
    group: 'capture',
    kind: 'switch',
    label: 'Count changes of the fragment as page views',
    hint: 'Routes such as #/cart always count.',
  },
  track_query: {
    group: 'capture',
    kind: 'switch',
    label: 'Count replaced queries as page views',
    hint: 'For sites whose filters and maps change the query with history.replaceState.',
  },
  video_embeds: {
    group: 'capture',
    kind: 'switch',
    label: 'Record YouTube and Vimeo players',
    hint: 'Videos of the page itself are always recorded.',
  },
  web_vitals: {
    group: 'capture',
    kind: 'switch',
    label: 'Measure Web Vitals',
    hint: 'LCP, INP, CLS, FCP and TTFB, as custom events named web_vitals.',
  },
  frustration: {
    group: 'capture',
    kind: 'switch',
    label: 'Detect rage and dead clicks',
    hint: 'As custom events named rage_click and dead_click.',
  },
}

const settingNames = Object.keys(settingFields) as (keyof Settings)[]

const leads: Record<Group, string> = {
  privacy: 'Consent, data that is not stored, and retention.',
  capture: 'Whether events are collected, from which sites, and how they count.',
}

/** The settings of a pixel: one form on two tabs, saved together. */
export function PixelSettings({
  pixel,
  mayEdit,
  tab,
  chooseTab,
  saved,
}: {
  pixel: Pixel
  mayEdit: boolean
  tab: PixelTab
  chooseTab(tab: PixelTab): void
  saved(pixel: Pixel): void
}) {
  return (
    <fieldset class="bare settings" disabled={!mayEdit}>
      <legend class="visually-hidden">Settings of the pixel</legend>
      <EditForm
        object={pixel}
        kind="pixel"
        valuesOf={valuesOf}
        save={({ active, allowed_origins = '', ...settings }, version) =>
          api.updatePixel({
            pixel_id: pixel.pixel_id,
            version,
            active: active === 'on',
            allowed_origins: linesOf(allowed_origins),
            settings: settingsFrom(settings),
          })
        }
        saved={(pixel) => {
          toast('Settings saved: pages get them within five minutes')
          saved(pixel)
        }}
        refused={([field]) => {
          if (field) chooseTab(settingFields[field as keyof Settings]?.group ?? 'capture')
        }}
        action="Save settings"
        isLong
      >
        {(Object.keys(settingGroups) as Group[]).map((group) => (
          <TabPanel key={group} set={set} tab={group} current={tab}>
            <Section title={settingGroups[group]} lead={mayEdit ? leads[group] : onlyAdmins}>
              <div class="card fields">
                {group === 'capture' && (
                  <>
                    <Checkbox
                      name="active"
                      label="Active"
                      hint="Off: beacons are refused and the script is not served."
                    />
                    <LinesField name="allowed_origins" label="Allowed origins" hint={originsHint} />
                  </>
                )}
                {settingNames
                  .filter((name) => settingFields[name].group === group)
                  .map((name) => (
                    <Setting key={name} name={name} />
                  ))}
              </div>
            </Section>
          </TabPanel>
        ))}
      </EditForm>
    </fieldset>
  )
}

const onlyAdmins = 'An admin of the project can change them.'

function Setting({ name }: { name: keyof Settings }) {
  const field = settingFields[name]
  const { label, hint } = field
  switch (field.kind) {
    case 'choice':
      return <Select name={name} label={label} hint={hint} options={field.options} />
    case 'switch':
      return <Checkbox name={name} label={label} hint={hint} />
    case 'number':
      return (
        <TextField
          name={name}
          label={label}
          hint={hint}
          type="number"
          min={1}
          step={1}
          required={field.empty === undefined}
        />
      )
    case 'lines':
      return <LinesField name={name} label={label} hint={hint} />
  }
}

function valuesOf({ active, allowed_origins, settings }: Pixel): Values {
  const values: Values = { active: active ? 'on' : '', allowed_origins: linesFrom(allowed_origins) }
  for (const name of settingNames) values[name] = valueFrom(settings[name])
  return values
}

function valueFrom(setting: Settings[keyof Settings]): string {
  if (typeof setting === 'boolean') return setting ? 'on' : ''
  return Array.isArray(setting) ? linesFrom(setting) : String(setting ?? '')
}

/** Returns the settings in the fields; the service validates them. */
function settingsFrom(values: Values): Settings {
  const entries = settingNames.map((name) => [
    name,
    settingFrom(settingFields[name], values[name] ?? ''),
  ])
  return Object.fromEntries(entries) as Settings
}

function settingFrom(field: SettingField, value: string): Settings[keyof Settings] | string {
  switch (field.kind) {
    case 'choice':
      return value
    case 'switch':
      return value === 'on'
    case 'number':
      return value === '' && field.empty === null ? null : Number(value)
    case 'lines':
      return linesOf(value)
  }
}

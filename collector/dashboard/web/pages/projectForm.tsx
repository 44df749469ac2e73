import type { ComponentChildren } from 'preact'
import { api, type Project } from '../api.ts'
import { EditForm } from '../components/editForm.tsx'
import type { Values } from '../components/form.tsx'
import { Section } from '../components/page.tsx'
import { toast } from '../components/toast.tsx'

type Change = Omit<Parameters<typeof api.updateProject>[0], 'project_id' | 'version'>

const onlyAdmins = 'An admin of the project can change these settings.'

export interface ProjectFormProps {
  project: Project
  mayEdit: boolean
  saved(project: Project): void
}

/** A section of a project's settings, which is saved by itself. Only admins of the project can change it. */
export function ProjectForm({
  title,
  lead,
  project,
  mayEdit,
  saved,
  valuesOf,
  changeOf,
  toastText,
  action,
  isLong = false,
  children,
}: ProjectFormProps & {
  title: string
  lead: string
  valuesOf(project: Project): Values
  changeOf(values: Values): Change
  /** Shown after the settings are saved. */
  toastText: string
  action: string
  isLong?: boolean
  children: ComponentChildren
}) {
  return (
    <Section title={title} lead={mayEdit ? lead : `${lead} ${onlyAdmins}`}>
      <fieldset class="bare card" disabled={!mayEdit}>
        <legend class="visually-hidden">{title}</legend>
        <EditForm
          object={project}
          kind="project"
          valuesOf={valuesOf}
          save={(values, version) =>
            api.updateProject({ project_id: project.project_id, ...changeOf(values), version })
          }
          saved={(project) => {
            toast(toastText)
            saved(project)
          }}
          action={action}
          isLong={isLong}
        >
          {children}
        </EditForm>
      </fieldset>
    </Section>
  )
}

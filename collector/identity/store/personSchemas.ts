import { Type } from 'typebox'
import { selectableRow } from '../../api/http/rowSchemas.ts'
import { personFields } from './people.ts'

/** A person in responses: every field, null if unknown, or the selected ones. */
export const Person = selectableRow({
  title: 'Profile',
  fields: personFields,
  always: personFields,
  description: 'Profile of a person. Unknown fields are null.',
})

/** The parameter `select` of people; readPersonFields reads it. */
export const SelectOfPerson = Type.String({
  description: 'Comma-separated fields of a person. Default: hem and all profile fields.',
})

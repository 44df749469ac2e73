import type { Field } from './field.ts'
import { profileFields } from './profileField.ts'
import {
  companyTypes,
  employeeRanges,
  fundingStages,
  industries,
  revenueRanges,
} from './vocabulary.ts'

const { text, label, integer, number, flag } = profileFields('company', 'resolution_full_profile')

/** The company the person works for. */
export const companyFields: readonly Field[] = [
  text('company_name', 'Name as the company uses it.'),
  text('company_legal_name', 'Name in the register.'),
  text('company_domain', 'Domain of the website, without www; companies are told apart by it.'),
  text('company_website_url', 'Address of the website.'),
  text('company_description', 'What the company does, in a sentence or two.'),
  label('company_industry', 'Industry.', Object.keys(industries)),
  label('company_sub_industry', 'Industry, one step finer.', Object.values(industries).flat()),
  label('company_naics_code', 'NAICS 2022 code of the main business.'),
  label('company_sic_code', 'SIC code of the main business.'),
  label('company_type', 'Form of ownership.', companyTypes),
  text('company_stock_symbol', 'Ticker of a listed company.'),
  label('company_stock_exchange', 'Exchange that a listed company trades at.'),
  integer('company_founded_year', 'Year in which it was founded.'),
  integer('company_employee_count', 'Employees.'),
  label('company_employee_range', 'Employees, as a range.', employeeRanges),
  number(
    'company_employee_growth',
    'Employees now over employees a year ago, less one: 0.1 is ten percent more.',
  ),
  integer('company_revenue_usd', 'Yearly revenue in US dollars.'),
  label('company_revenue_range', 'Yearly revenue in US dollars, as a range.', revenueRanges),
  integer('company_funding_total_usd', 'Venture money raised so far, in US dollars.'),
  label('company_funding_stage', 'The last round.', fundingStages),
  text('company_phone', 'Main number, E.164.'),
  text('company_street_address', 'Street and number of the headquarters.'),
  text('company_city', 'City of the headquarters.'),
  label('company_region', 'State or province of the headquarters.'),
  text('company_postal_code', 'Postal code of the headquarters.'),
  label('company_country', 'Country of the headquarters, ISO 3166-1 alpha-2.'),
  text('company_linkedin_url', 'LinkedIn page.'),
  text('company_twitter_url', 'X (Twitter) page.'),
  text('company_facebook_url', 'Facebook page.'),
  text('company_technologies', 'Technologies the website shows, separated by commas.'),
  text('company_keywords', 'What it offers, in keywords separated by commas.'),
  text('company_parent_domain', 'Domain of the company it belongs to.'),
  flag('company_sells_to_businesses', 'True when its customers are companies.'),
  flag('company_sells_to_consumers', 'True when its customers are people.'),
]

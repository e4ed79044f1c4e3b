/// Meters of Micrometer for all that a process counts ([verbena.micrometer.VerbenaMetrics]).
package verbena.micrometer;

/// What a measurement has found: as JSON for programs, as one HTML file with plots for people.
package verbena.tools.report;

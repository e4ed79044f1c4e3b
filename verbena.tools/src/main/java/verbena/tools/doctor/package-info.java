/// `verbena doctor`: small checks, each of which looks at one thing and says what it has seen.
package verbena.tools.doctor;

/// Programs that know nothing of Verbena: the tests start them with the agent and without.
package verbena.nio.programs;

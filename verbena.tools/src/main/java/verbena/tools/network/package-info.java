/// Networks in virtual time: their experiments.
package verbena.tools.network;

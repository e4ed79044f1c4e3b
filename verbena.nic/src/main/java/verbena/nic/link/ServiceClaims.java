package verbena.nic.link;

import verbena.verbs.Gid;

/// A link that shares its addresses with others, so that each service of connection management is of one of them.
public interface ServiceClaims {
    /// Claims a service at an own address: from now on, the requests of connection management (REQ and SIDR_REQ)
    /// for it are for this link, whichever links receive at the address. They arrive as soon as the service is
    /// open. Called like [Link#join(Gid)].
    ///
    /// @return false when another link of this user has claimed it there
    /// @throws LinkException when another user has, or the system does not allow it
    boolean claimService(long serviceId, Gid local);

    /// Opens a claimed service: from now on, its requests are served, including those that came a moment ago and
    /// wait. Called like [Link#join(Gid)].
    void openService(long serviceId, Gid local);

    /// Closes and releases a service; does nothing when it was not claimed. Called like [Link#join(Gid)].
    void releaseService(long serviceId, Gid local);
}

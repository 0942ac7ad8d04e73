//! `Debug` of messages that contain credentials or environment variables, which may be secrets.

use std::fmt;

use super::messages::{AuthTokenGetResponse, RouterAccess, SandboxCreateV2Response, StringMap};

impl fmt::Debug for AuthTokenGetResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthTokenGetResponse").finish_non_exhaustive()
    }
}

impl fmt::Debug for SandboxCreateV2Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxCreateV2Response")
            .field("sandbox_id", &self.sandbox_id)
            .field("task_id", &self.task_id)
            .field("command_router_access", &self.command_router_access)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for StringMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The values of variables may be secrets.
        f.debug_set().entries(self.contents.keys()).finish()
    }
}

impl fmt::Debug for RouterAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouterAccess").field("url", &self.url).finish_non_exhaustive()
    }
}
